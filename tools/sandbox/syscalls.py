"""The numbers of system calls on the machines that are known here."""

from dataclasses import dataclass

LATER = 424
"""From here on every machine has the same numbers."""

LATER_ALLOWED = (
    424,  # pidfd_send_signal
    434,  # pidfd_open
    436,  # close_range
    437,  # openat2
    439,  # faccessat2
    441,  # epoll_pwait2
    444,  # landlock_create_ruleset
    445,  # landlock_add_rule
    446,  # landlock_restrict_self
    449,  # futex_waitv
    452,  # fchmodat2
    453,  # map_shadow_stack
    454,  # futex_wake
    455,  # futex_wait
    456,  # futex_requeue
    462,  # mseal
)


@dataclass(frozen=True)
class Architecture:
    """`audit`: how the kernel names the machine. `refused`: calls that no command needs, by number."""

    audit: int
    clone: int
    socket: int
    socketpair: int
    refused: tuple[int, ...]


# name: x86_64, aarch64; None where it does not exist.
_REFUSED: dict[str, tuple[int, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "init_module": (175, 105),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "mbind": (237, 235),
    "memfd_create": (319, 279),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "set_mempolicy": (238, 237),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}

ARCHITECTURES = {
    "x86_64": Architecture(0xC000003E, 56, 41, 53, tuple(x86 for x86, _ in _REFUSED.values())),
    "aarch64": Architecture(0xC00000B7, 220, 198, 199, tuple(arm for _, arm in _REFUSED.values() if arm is not None)),
}

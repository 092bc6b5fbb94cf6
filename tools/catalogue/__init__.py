"""Built-in tools, one file each; importing this package declares them."""

from tools.catalogue import current_time, slow_read

__all__ = ["BUILT_IN", "current_time", "slow_read"]

BUILT_IN = ("current_time", "slow_read")

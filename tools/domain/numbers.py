"""Spells every JSON number exactly and in one way: RFC 8785 where a double has the value, beyond it digit for digit."""

from decimal import Decimal

from tools.domain.errors_values import NotFinite, NumberTooLong

MAX_DIGITS = 1000
MAX_EXPONENT = 308

_PLAIN_INTEGER = 10**21
_PLAIN_DIGITS = 21
_SMALLEST_PLAIN = -6


def read_integer(text: str) -> int:
    """The exact value of an integer literal of at most 1,000 digits."""
    if len(text) > MAX_DIGITS and len(text.lstrip("-")) > MAX_DIGITS:
        raise NumberTooLong
    return int(text)


def read_fraction(text: str) -> int | Decimal:
    """The exact value of a literal with a point or an exponent; an integral one is an int."""
    mantissa, _, exponent = text.lower().partition("e")
    written = len(mantissa.lstrip("-").replace(".", ""))
    power = exponent.lstrip("+-").lstrip("0")
    if written > MAX_DIGITS or len(power) > 3 or int(power or "0") > MAX_EXPONENT:
        raise NumberTooLong
    number = Decimal(text)
    digits, point = _digits(number)
    if point >= len(digits):
        return int(_plain(digits, point) or "0") * (-1 if number.is_signed() else 1)
    return number


def spell_integer(number: int) -> str:
    """The canonical text of an int, plain below 10^21."""
    if -_PLAIN_INTEGER < number < _PLAIN_INTEGER:
        return int.__repr__(number)
    if abs(number) >= 10**MAX_DIGITS:
        raise NumberTooLong
    digits = str(abs(number))
    return _spell("-" if number < 0 else "", digits.rstrip("0"), len(digits))


def spell_decimal(number: Decimal) -> str:
    """The canonical text of a Decimal, equal for equal values."""
    if not number.is_finite():
        raise NotFinite
    digits, point = _digits(number)
    if not digits:
        return "0"
    return _spell("-" if number.is_signed() else "", digits, point)


def plain_digits(number: int | Decimal) -> str:
    """All digits without an exponent, for people."""
    if isinstance(number, int):
        return str(int(number))
    digits, point = _digits(number)
    sign = "-" if number.is_signed() and digits else ""
    return sign + _plain(digits, point) if digits else "0"


def _digits(number: Decimal) -> tuple[str, int]:
    """Significant digits without zeros at either end, and where the decimal point stands relative to their start."""
    text = str(number.copy_abs()).lower()
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    stripped = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or "0") - (len(whole + fraction) - len(stripped))
    digits = stripped.rstrip("0")
    if digits and max(point, len(digits)) - min(point, 0) > MAX_DIGITS:
        raise NumberTooLong
    return digits, point if digits else 0


def _spell(sign: str, digits: str, point: int) -> str:
    plain = _plain(digits, point)
    if _SMALLEST_PLAIN < point <= _PLAIN_DIGITS or abs(point - 1) > MAX_EXPONENT:
        return sign + plain
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    exponential = f"{digits[0]}{fraction}e{point - 1:+d}"
    return sign + min(exponential, plain, key=len)


def _plain(digits: str, point: int) -> str:
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    if point <= 0:
        return "0." + "0" * -point + digits
    return f"{digits[:point]}.{digits[point:]}"

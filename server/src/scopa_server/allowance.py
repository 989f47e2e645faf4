"""So many at once, then one more each so often: the generic cell rate algorithm."""


class Allowance:
    """What is left of an allowance, kept as one number: the time up to which it is used."""

    __slots__ = ("_each", "_slack", "_until")

    def __init__(self, burst: int, seconds_each: float) -> None:
        self._each = seconds_each
        self._slack = (burst - 1) * seconds_each
        self._until = float("-inf")

    def wait(self, now: float) -> float:
        """Seconds until one more is allowed; 0: now."""
        return max(0.0, self._until - self._slack - now)

    def take(self, now: float) -> float:
        """Take one, if one is left; seconds until there is, 0 if it was taken."""
        until = self._until
        if until - now > self._slack:
            return until - now - self._slack
        self._until = (max(now, until)) + self._each
        return 0.0

    def lacks(self, many: int, now: float) -> float:
        """Seconds until so many are left; 0: now."""
        last = max(now, self._until) + (many - 1) * self._each
        return max(0.0, last - self._slack - now)

    def draw(self, many: int, now: float) -> None:
        """Take so many at once, left or not."""
        self._until = max(now, self._until) + many * self._each

    def used(self, now: float) -> float:
        """Seconds until nothing of it is used any more."""
        return max(0.0, self._until - now)

    def use(self, seconds: float, now: float) -> None:
        """Take what somebody has `used` elsewhere."""
        self._until = now + seconds

    def is_whole(self, now: float) -> bool:
        """Whether nothing of it is used any more, so that it need not be remembered."""
        return self._until <= now

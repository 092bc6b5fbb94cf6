"""How people are made and found: by their e-mail address, in lower case."""

from typing import Any, TypeVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager

PersonT = TypeVar("PersonT", bound=AbstractBaseUser)


class People(BaseUserManager[PersonT]):
    """Creates people; an address is the same in any spelling of its letters."""

    use_in_migrations = False

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> PersonT:
        """A person who signs in with this address."""
        if not email:
            raise ValueError("A person needs an e-mail address.")
        person = self.model(email=email.lower(), **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def get_by_natural_key(self, username: str | None) -> PersonT:
        """The person who signs in with this address."""
        return self.get(email=(username or "").lower())

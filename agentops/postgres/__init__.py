"""The database backend: Django's PostgreSQL, with fewer round trips."""

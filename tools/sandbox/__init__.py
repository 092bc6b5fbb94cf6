"""Programs that are not trusted, each in a room of its own: no network, no files of the host, limits on everything."""

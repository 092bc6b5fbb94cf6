"""Our authorization server: how a person lets an outside agent act for them in one team."""

"""Moments as the product's own pages write them, with their zone."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y H:i:s T"

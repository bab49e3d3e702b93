"""The checker of annotations: beartype, with whole numbers allowed where fractions are."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))

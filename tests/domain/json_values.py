"""JSON values of every kind for the property tests: text, exact numbers, and what can be nested of them."""

from hypothesis import strategies as st

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers() | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**40), max_value=10**40)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)

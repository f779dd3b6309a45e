/** The words in formulas, which stand there as `\text{given}`. */
export const formulas = {
  given: 'given',
  wanted: 'wanted',
  'never stored': 'never stored',
  'for all': 'for all',
  inner: 'inner',
  outer: 'outer',
  new: 'new',
  pairs: 'pairs',
  'head size': 'head size',
};

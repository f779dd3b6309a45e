/** Why each paper is worth reading. */
export const references = {
  title: 'Further reading',
  why: {
    vaswani: 'Where scaled dot-product attention comes from.',
    milakov: 'The running maximum and sum of chapter 2.',
    rabe: 'Attention in a single pass, with memory that does not grow with n².',
    dao: 'Tiles, with the outer loop over keys, and why memory traffic decides the speed.',
    dao2: 'The outer loop over queries, and how the work is divided among workgroups.',
    olsson:
      'Heads that look for an earlier copy of the current token and read what followed it, as in the recall task.',
    welford: 'The variance in a single pass.',
    salmon: 'Philox: random numbers from counters.',
    williams: 'The roofline.',
  },
};

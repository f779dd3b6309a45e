/** Why each paper is worth reading. */
export const references = {
  title: 'Further reading',
  why: {
    vaswani: 'Where scaled dot-product attention comes from.',
    milakov: 'The running maximum and sum of chapter 2.',
    rabe: 'Attention in a single pass, with memory that does not grow with n².',
    dao: 'Tiles, and why memory traffic decides: keys outside.',
    dao2: 'Queries outside, and what each workgroup does.',
    olsson: 'The heads that find what came after the same token before: what the recall task teaches.',
    welford: 'The variance in a single pass.',
    salmon: 'Philox: random numbers from counters.',
    williams: 'The roofline.',
  },
};

/** The papers that the chapters rest on: their titles and addresses. */
export const papers = {
  vaswani: {
    cite: 'Vaswani et al., Attention Is All You Need, 2017',
    href: 'https://arxiv.org/abs/1706.03762',
  },
  milakov: {
    cite: 'Milakov, Gimelshein, Online normalizer calculation for softmax, 2018',
    href: 'https://arxiv.org/abs/1805.02867',
  },
  rabe: {
    cite: 'Rabe, Staats, Self-attention Does Not Need O(n²) Memory, 2021',
    href: 'https://arxiv.org/abs/2112.05682',
  },
  dao: {
    cite: 'Dao et al., FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness, 2022',
    href: 'https://arxiv.org/abs/2205.14135',
  },
  dao2: {
    cite: 'Dao, FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning, 2023',
    href: 'https://arxiv.org/abs/2307.08691',
  },
  olsson: {
    cite: 'Olsson et al., In-context Learning and Induction Heads, 2022',
    href: 'https://arxiv.org/abs/2209.11895',
  },
  welford: {
    cite: 'Welford, Note on a Method for Calculating Corrected Sums of Squares and Products, 1962',
    href: 'https://doi.org/10.1080/00401706.1962.10490022',
  },
  salmon: {
    cite: 'Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011',
    href: 'https://doi.org/10.1145/2063384.2063405',
  },
  williams: {
    cite: 'Williams, Waterman, Patterson, Roofline: An Insightful Visual Performance Model, 2009',
    href: 'https://doi.org/10.1145/1498765.1498785',
  },
} as const;

export type PaperId = keyof typeof papers;

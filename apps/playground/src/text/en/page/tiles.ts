/** The picture of tiles that the chapters share. */
export const tiles = {
  row: 'The same keys as tiles: one row of the grid that the next chapter completes.',
  rowLabel: (at: number, tiles: number): string =>
    `${at} of ${tiles} key tiles ${at === 1 ? 'has' : 'have'} been visited`,
  masked: (tile: number, skipped: number, tested: number, whole: number): string =>
    `Tiles of ${tile} × ${tile}: ${skipped} skipped (dashed), ${tested} tested pair by pair (faint), ${whole} without a test (strong).`,
  title: 'The same loop, on the GPU',
  intro:
    'The picture of tiles ends here, in the kernel. A row of the grid is a *workgroup*. All rows run at the same time. Each has its own tile of 32 queries and walks over the tiles of keys. The listing is the kernel that the library generates for 32-bit floats without options, and a test keeps it up to date. Press play, and see which lines the grid has reached.',
  walkLabel: (j: number | null): string =>
    j === null ? 'No key tile is being visited' : `Every workgroup visits key tile ${j}`,
  source: 'WGSL of the forward kernel',
  phases: {
    tile: {
      title: 'Which tile',
      what: 'The index of the workgroup says which queries of which head it computes.',
    },
    state: {
      title: 'The state',
      what: 'Maximum m, denominator l and numerator acc of each row, in registers.',
    },
    loop: { title: 'The next keys', what: 'The loop over tiles of keys: your inner `FOR`.' },
    scores: {
      title: 'Scores',
      what: 'Q and K go through workgroup memory; each lane computes a 4 × 4 block of S.',
    },
    mask: { title: 'Scale and mask', what: 'A tile that is fully visible skips the tests.' },
    maximum: { title: 'The maximum', what: '`MAX`, across the lanes that share a row.' },
    weights: { title: 'The weights', what: '`SUB` and `EXP`: at most 1, never an overflow.' },
    sum: { title: 'The denominator', what: 'Rescaled by exp(m − m′), then the new weights are added.' },
    output: {
      title: 'The numerator',
      what: 'Rescaled by the same factor, then P·V is added. P is gone after this.',
    },
    lanes: { title: 'One sum per row', what: 'The lanes of a row add up their denominators.' },
    store: { title: 'Divide and store', what: 'One division, one STORE: O, and lse for backward.' },
  },
};

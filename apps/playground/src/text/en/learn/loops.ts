import { counted } from '../counted.ts';

export const loops = {
  intro:
    'Every tile of queries must meet every tile of keys. Fast memory holds one tile of each, so something must be loaded again and again. If the outer loop runs over queries, K and V are loaded repeatedly. If the outer loop runs over keys, Q and the unfinished outputs are loaded repeatedly, and the outputs must be written back as well.',
  side: 'Two orders, side by side',
  sideWhy:
    'The grid is the n × n matrix of pairs. Around it lie the tiles in slow memory. Blue tiles are loaded, orange tiles are stored, and purple tiles stay in fast memory. All outputs begin as zeros in slow memory, so their first loads count as well. A GPU kernel begins with zeros in registers instead, and saves these n loads.',
  tiles: 'Tiles (n)',
  slots: 'Output slots in fast memory',
  orders: {
    'inner-product': 'Queries outside: inner product, FlashAttention-2',
    'outer-product': 'Keys outside: outer product, FlashAttention-1',
  },
  grid: (met: number, all: number, now: { readonly i: number; readonly j: number } | null): string =>
    `${met} of ${all} pairs of tiles ${met === 1 ? 'has' : 'have'} met${now ? `; now query tile ${now.i} meets key tile ${now.j}` : ''}`,
  moved: 'Tiles moved',
  soFar: 'so far',
  inAll: 'in total',
  together: 'Total',
  traffic: {
    loadsQ: 'Q loads',
    loadsK: 'K loads',
    loadsV: 'V loads',
    loadsO: 'O loads',
    storesO: 'O stores',
  },
  outputStays: 'An output stays in fast memory until its row is done: it is loaded once and stored once.',
  everyVisit: 'Every visit loads an unfinished output and stores it again.',
  someStay: (slots: number, n: number): string =>
    `${slots} of ${n} outputs ${slots === 1 ? 'stays in fast memory, which' : 'stay in fast memory; each'} saves ${counted(n - 1, 'load', 'loads')} and ${counted(n - 1, 'store', 'stores')}.`,
  whyNotAll: 'Why not keep all outputs?',
  whyNotAllAnswer: [
    'Fast memory is shared: a slot that holds an output cannot hold keys. If all n outputs stay, there are as few stores as in the other order, but the fast memory must grow with the sequence. It is the choice between three and six registers from chapter 1 again, with steps in between.',
  ],
  whyTwo: 'Who does what at the same time?',
  whyTwoAnswer: [
    'A GPU runs many tiles at once. With queries outside, each workgroup has a query tile of its own and never waits for another workgroup. This is why FlashAttention-2 and this library put queries outside. With keys outside, workgroups that hold different keys would all add to the same outputs.',
  ],
  roofline: 'Arithmetic per byte',
  rooflineWhy:
    'A device reaches its peak only if it uses every byte that it loads often enough. Under the slope, memory is the limit. Under the flat roof, arithmetic is.',
  flopPerByte: 'FLOP per byte',
  limitedBy: 'Limited by',
  limits: { memory: 'memory', arithmetic: 'arithmetic' },
  schedules: {
    naive: 'S and P stored',
    'outer-product': 'Keys outside',
    'inner-product': 'Queries outside',
  },
  rooflineChart: (points: readonly string[]): string => `Roofline. ${points.join('; ')}`,
  laptop: 'A laptop, roughly',
  arithmetic: 'Arithmetic, TFLOP/s',
  memory: 'Memory, GB/s',
  rowsPerTile: 'Rows per tile',
  rooflineNote: (sequence: string, headSize: number): string =>
    `${sequence} queries and keys, head size ${headSize}, 16-bit numbers. Caches are left out. Larger tiles use each loaded byte more often.`,
};

import type { Step } from './step.ts';

/** What is measured, and with what. */
export interface MeasureOptions {
  /** The folder of the bundled programs. */
  readonly app: string;
  readonly vectors: string;
  /** The script for PyTorch; absent where no python3 has torch. */
  readonly torch?: string;
  /** Dawn's toggles of a second pass over what they change; empty for none. */
  readonly toggles: string;
  /** Shapes that a CPU can do, to see whether all of it runs. */
  readonly tiny: boolean;
}

interface Shapes {
  readonly attention: string;
  readonly keys: readonly string[];
  readonly memory: string;
  readonly cases: readonly string[];
  readonly repeats: string;
  /** Seconds for the tiles of one case. */
  readonly tuning: string;
}

/** D = 128, S = 4096, 32 heads; decode with the keys that the suite has by default. */
const targets: Shapes = {
  attention: '1x32x4096x128',
  keys: [],
  memory: '1x1x65536x64',
  cases: [],
  repeats: '10',
  tuning: '90',
};

const tinyShapes: Shapes = {
  attention: '1x2x128x64',
  keys: ['--keys', '512'],
  memory: '1x1x512x64',
  cases: ['--filter', 'tiny'],
  repeats: '2',
  tuning: '5',
};

/** Everything that is to be known of a GPU, what matters most first; then PyTorch, and tuning last. */
export function planMeasurement({ app, vectors, torch, toggles, tiny }: MeasureOptions): Step[] {
  const shapes = tiny ? tinyShapes : targets;
  // A CPU takes long to compile what a GPU's driver compiles at once.
  const patience = tiny ? 10 : 1;
  const program = (name: string, file: string, seconds: number, ...args: string[]): Step => ({
    ...{ name, command: process.execPath, args: [`${app}/${file}.mjs`, ...args] },
    seconds: patience * seconds,
  });
  const attention = (dtype: string): Step =>
    program(
      ...([`attention-${dtype}`, 'bench', 90, 'attention', '--engine', 'webgpu'] as const),
      ...['--shapes', shapes.attention, '--dtypes', dtype, '--json'],
    );
  const everywhere = [
    program('doctor', 'doctor', 30),
    program('roof', 'bench', 45, 'roof', '--json'),
    attention('f16'),
    program('decode', 'bench', 45, 'decode', ...shapes.keys, '--json'),
    program(
      ...(['conformance', 'conformance', 90, 'attention', '--engine', 'webgpu'] as const),
      ...['--vectors', vectors, ...shapes.cases, '--json'],
    ),
  ];
  const plain = [
    attention('f32'),
    program('memory', 'bench', 45, 'memory', '--json'),
    program('memory-long', 'bench', 45, 'memory', '--shapes', shapes.memory, '--json'),
  ];
  const toggled = everywhere.map(
    (step): Step => ({ ...step, name: `toggled-${step.name}`, env: { TILEWISE_TOGGLES: toggles } }),
  );
  // What f16 does without matrices.
  const withoutMatrices = toggled
    .filter(({ name }) => name === 'toggled-attention-f16')
    .map((step): Step => ({ ...step, name: `${step.name}-table`, args: [...step.args, '--tiles', 'table'] }));
  const python = (name: string, backends: string): Step => ({
    ...{ name, command: 'python3', seconds: patience * 90 },
    args: [
      ...[torch ?? '', '--shapes', shapes.attention, '--dtypes', 'f32,f16'],
      ...['--backends', backends, '--repeats', shapes.repeats],
    ],
  });
  // Last, as nothing else waits for it: whether the table's tiles are the fastest on this GPU, with all that it has.
  const tuned = ['f32', 'f16'].map(
    (dtype): Step => ({
      ...program(
        ...([
          `tune-${dtype}`,
          'bench',
          150,
          'tune',
          '--shapes',
          shapes.attention,
          '--dtypes',
          dtype,
        ] as const),
        ...['--masks', 'causal', '--seconds', shapes.tuning, '--json'],
      ),
      env: { TILEWISE_TOGGLES: toggles },
    }),
  );
  const others = torch ? [python('torch', 'flash,efficient,cudnn,math'), python('torch-flex', 'flex')] : [];
  return [...everywhere, ...plain, ...(toggles ? [...toggled, ...withoutMatrices] : []), ...others, ...tuned];
}

import type { Step } from './step.ts';

/** The folders and options of a measurement. */
export interface MeasureOptions {
  /** The folder of the bundled programs. */
  readonly app: string;
  readonly vectors: string;
  /** The script for PyTorch; absent if no python3 has torch. */
  readonly torch?: string;
  /** Dawn's toggles for a second pass over the steps that they affect; empty for none. */
  readonly toggles: string;
  /** Uses shapes that are small enough for a CPU, to see whether everything runs. */
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

/** D = 128, S = 4096, 32 heads; decode uses the suite's default numbers of keys. */
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

/**
 * The measurements of a GPU, the most important first, because the time may run out at any step: whether
 * results are right, how fast f32 is with the features that browsers offer and f16 with all features, and
 * PyTorch for comparison; then the rest, with tuning last, because no other step needs its result.
 */
export function planMeasurement({ app, vectors, torch, toggles, tiny }: MeasureOptions): Step[] {
  const shapes = tiny ? tinyShapes : targets;
  // A CPU takes long to compile kernels that a GPU's driver compiles at once.
  const timeFactor = tiny ? 10 : 1;
  const program = (name: string, file: string, seconds: number, ...args: string[]): Step => ({
    ...{ name, command: process.execPath, args: [`${app}/${file}.mjs`, ...args] },
    seconds: timeFactor * seconds,
  });
  const attention = (dtype: string, ...more: string[]): Step =>
    program(
      ...([`attention-${dtype}`, 'bench', 90, 'attention', '--engine', 'webgpu'] as const),
      ...['--shapes', shapes.attention, '--dtypes', dtype, '--json', ...more],
    );
  const conformance = (dtype: string): Step =>
    program(
      ...([`conformance-${dtype}`, 'conformance', 90, 'attention', '--engine', 'webgpu'] as const),
      ...['--vectors', vectors, '--dtype', dtype, ...shapes.cases, '--json'],
    );
  const python = (name: string, backends: string): Step[] =>
    torch === undefined
      ? []
      : [
          {
            ...{ name, command: 'python3', seconds: timeFactor * 90 },
            args: [
              ...[torch, '--shapes', shapes.attention, '--dtypes', 'f16,f32'],
              ...['--backends', backends, '--repeats', shapes.repeats],
            ],
          },
        ];
  const tuning = (dtype: string): Step =>
    program(
      ...([`tune-${dtype}`, 'bench', 150, 'tune', '--shapes', shapes.attention, '--dtypes', dtype] as const),
      ...['--masks', 'causal', '--seconds', shapes.tuning, '--json'],
    );
  const doctor = program('doctor', 'doctor', 30);
  const peak = program('peak', 'bench', 45, 'peak', '--json');
  const decode = program('decode', 'bench', 45, 'decode', ...shapes.keys, '--json');
  const toggled = (step: Step): Step =>
    toggles === '' ? step : { ...step, name: `toggled-${step.name}`, env: { TILEWISE_TOGGLES: toggles } };
  const steps = [
    doctor,
    attention('f32'),
    toggled(attention('f16')),
    ...python('torch', 'flash,efficient,cudnn,math'),
    toggled(decode),
    toggled({ ...attention('f16', '--tiles', 'table'), name: 'attention-f16-table' }),
    // Subgroup matrices only take f16 operands.
    toggled(conformance('f16')),
    conformance('f32'),
    program('memory', 'bench', 45, 'memory', '--json'),
    program('memory-long', 'bench', 45, 'memory', '--shapes', shapes.memory, '--json'),
    ...[peak, toggled(peak), toggled(doctor)],
    ...[attention('f16'), decode],
    ...python('torch-flex', 'flex'),
    ...['f32', 'f16'].map(dtype => toggled(tuning(dtype))),
  ];
  // Without toggles, some steps occur twice.
  return steps.filter(({ name }, n) => steps.findIndex(step => step.name === name) === n);
}

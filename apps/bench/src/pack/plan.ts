import type { Step } from './step.ts';

/** The folders and options of a measurement. */
export interface MeasureOptions {
  /** The folder of the bundled programs. */
  readonly app: string;
  readonly vectors: string;
  /** The folder for what a step leaves for the next one. */
  readonly folder: string;
  /** The script for PyTorch's attention; absent if no python3 has torch. */
  readonly torch?: string;
  /** The script for PyTorch's dropout masks; absent if PyTorch has no CUDA. */
  readonly torchDropout?: string;
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
  /** The size of the matrices of `matmul`. */
  readonly matmul: string;
  /** The case of `train`. */
  readonly training: string;
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
  matmul: '4096',
  training: '4x256',
  tuning: '90',
};

const tinyShapes: Shapes = {
  attention: '1x2x128x64',
  keys: ['--keys', '512'],
  memory: '1x1x512x64',
  cases: ['--filter', 'tiny'],
  repeats: '2',
  matmul: '256',
  training: 'demo',
  tuning: '5',
};

/** The toggle without which Dawn has no subgroup matrices. */
const unsafeApis = 'allow_unsafe_apis';

/**
 * The measurements of a GPU, the most important first, because the time may run out at any step: whether
 * results are right, how fast f32 is with the features that browsers offer and f16 with all features, and
 * PyTorch for comparison; then the rest, such as PyTorch's dropout masks bit for bit, with tuning last,
 * because no other step needs its result.
 */
export function planMeasurement({
  app,
  vectors,
  folder,
  torch,
  torchDropout,
  toggles,
  tiny,
}: MeasureOptions): Step[] {
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
  const python = (name: string, seconds: number, script: string, ...args: string[]): Step => ({
    ...{ name, command: 'python3', seconds: timeFactor * seconds, args: [script, ...args] },
  });
  const torchAttention = (name: string, backends: string): Step[] =>
    torch === undefined
      ? []
      : [
          python(
            ...([name, 90, torch, '--shapes', shapes.attention, '--dtypes', 'f16,f32'] as const),
            ...['--backends', backends, '--repeats', shapes.repeats],
          ),
        ];
  const masks = `${folder}/dropout`;
  const dropout: Step[] =
    torchDropout === undefined
      ? []
      : [
          python('dropout-torch', 45, torchDropout, masks),
          program(
            ...(['dropout-webgpu', 'conformance', 30, 'philox', '--engine', 'webgpu'] as const),
            ...['--vectors', masks, '--json'],
          ),
        ];
  const tuning = (dtype: string): Step =>
    program(
      ...([`tune-${dtype}`, 'bench', 150, 'tune', '--shapes', shapes.attention, '--dtypes', dtype] as const),
      ...['--masks', 'causal', '--seconds', shapes.tuning, '--json'],
    );
  const doctor = program('doctor', 'doctor', 30);
  const peak = program('peak', 'bench', 45, 'peak', '--json');
  const matmul = (dtype: string): Step =>
    program(
      ...([`matmul-${dtype}`, 'bench', 30, 'matmul', '--size', shapes.matmul] as const),
      ...['--dtype', dtype, '--json'],
    );
  const train = program(
    ...(['train', 'bench', 45, 'train', '--engine', 'webgpu', '--cases', shapes.training] as const),
    ...['--autocast', 'f16', '--rounds', '3', '--json'],
  );
  const decode = program('decode', 'bench', 45, 'decode', ...shapes.keys, '--json');
  const toggled = (step: Step): Step =>
    toggles === '' ? step : { ...step, name: `toggled-${step.name}`, env: { TILEWISE_TOGGLES: toggles } };
  const names = toggles.split(',');
  const withoutMatrices: Step[] = names.includes(unsafeApis)
    ? [
        {
          ...{ ...attention('f16'), name: 'attention-f16-without-matrices' },
          env: { TILEWISE_TOGGLES: names.filter(name => name !== unsafeApis).join() },
        },
      ]
    : [];
  const steps = [
    doctor,
    attention('f32'),
    toggled(attention('f16')),
    ...torchAttention('torch', 'flash,efficient,cudnn,math'),
    toggled(decode),
    ...withoutMatrices,
    ...dropout,
    // Subgroup matrices only take f16 operands.
    toggled(conformance('f16')),
    conformance('f32'),
    ...[toggled(matmul('f16')), matmul('f32'), toggled(train)],
    program('memory', 'bench', 45, 'memory', '--json'),
    program('memory-long', 'bench', 45, 'memory', '--shapes', shapes.memory, '--json'),
    ...[peak, toggled(peak), toggled(doctor)],
    ...[attention('f16'), decode],
    program('overhead', 'bench', 30, 'overhead', '--json'),
    program('start', 'bench', 45, 'start', '--json'),
    ...torchAttention('torch-flex', 'flex'),
    ...['f32', 'f16'].map(dtype => toggled(tuning(dtype))),
  ];
  // Without toggles, some steps occur twice.
  return steps.filter(({ name }, n) => steps.findIndex(step => step.name === name) === n);
}

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

/** D = 128, S = 4096, 32 heads; decode uses the suite's default numbers of keys. */
const targets = {
  attention: '1x32x4096x128',
  decode: '',
  memory: '1x1x65536x64',
  conformance: '',
  repeats: 10,
  matmul: 4096,
  train: '4x256',
  /** Seconds for the tiles of one case. */
  tuning: 90,
};

const tinyCases: typeof targets = {
  attention: '1x2x128x64',
  decode: '--keys 512',
  memory: '1x1x512x64',
  conformance: '--filter tiny',
  repeats: 2,
  matmul: 256,
  train: 'demo',
  tuning: 5,
};

/** The steps that measure a GPU, some of them as functions of a dtype. */
export interface Measurements {
  readonly doctor: Step;
  readonly peak: Step;
  readonly train: Step;
  readonly decode: Step;
  /** Neither step is affected by toggles. */
  readonly memory: readonly Step[];
  readonly overhead: Step;
  readonly start: Step;
  attention(dtype: string): Step;
  conformance(dtype: string): Step;
  matmul(dtype: string): Step;
  tuning(dtype: string): Step;
  /** PyTorch's attention; none without PyTorch. */
  torch(name: string, backends: string): readonly Step[];
  /** Draws PyTorch's dropout masks, and compares them with WebGPU's; none without PyTorch. */
  readonly dropout: readonly Step[];
}

/** The steps with the command lines that run them, and the seconds after which each is ended. */
export function measurements({
  app,
  vectors,
  folder,
  torch,
  torchDropout,
  tiny,
}: Omit<MeasureOptions, 'toggles'>): Measurements {
  const cases = tiny ? tinyCases : targets;
  // A CPU takes long to compile kernels that a GPU's driver compiles at once.
  const timeFactor = tiny ? 10 : 1;
  const step = (name: string, seconds: number, command: string, args: readonly string[]): Step => ({
    ...{ name, seconds: timeFactor * seconds, command, args },
  });
  /** @param line a program and its arguments; paths, which may have spaces, follow as `paths`. */
  const program = (name: string, seconds: number, line: string, ...paths: string[]): Step => {
    const [file, ...args] = line.split(' ').filter(word => word !== '');
    return step(name, seconds, process.execPath, [`${app}/${file}.mjs`, ...args, ...paths]);
  };
  const python = (name: string, seconds: number, script: string, ...args: string[]): Step =>
    step(name, seconds, 'python3', [script, ...args]);

  const attentionCases = (dtypes: string): string => `--shapes ${cases.attention} --dtypes ${dtypes}`;
  const masks = `${folder}/dropout`;
  return {
    doctor: program('doctor', 30, 'doctor'),
    peak: program('peak', 45, 'bench peak --json'),
    train: program(
      'train',
      45,
      `bench train --engine webgpu --cases ${cases.train} --autocast f16 --rounds 3 --json`,
    ),
    decode: program('decode', 45, `bench decode ${cases.decode} --json`),
    memory: [
      program('memory', 45, 'bench memory --json'),
      program('memory-long', 45, `bench memory --shapes ${cases.memory} --json`),
    ],
    overhead: program('overhead', 30, 'bench overhead --json'),
    start: program('start', 45, 'bench start --json'),
    attention: dtype =>
      program(`attention-${dtype}`, 90, `bench attention --engine webgpu ${attentionCases(dtype)} --json`),
    conformance: dtype =>
      program(
        `conformance-${dtype}`,
        90,
        `conformance attention --engine webgpu --dtype ${dtype} ${cases.conformance} --json --vectors`,
        vectors,
      ),
    matmul: dtype =>
      program(`matmul-${dtype}`, 30, `bench matmul --size ${cases.matmul} --dtype ${dtype} --json`),
    tuning: dtype =>
      program(
        `tune-${dtype}`,
        150,
        `bench tune ${attentionCases(dtype)} --masks causal --seconds ${cases.tuning} --json`,
      ),
    torch: (name, backends) => {
      if (torch === undefined) return [];
      const line = `${attentionCases('f16,f32')} --backends ${backends} --repeats ${cases.repeats}`;
      return [python(name, 90, torch, ...line.split(' '))];
    },
    dropout:
      torchDropout === undefined
        ? []
        : [
            python('dropout-torch', 45, torchDropout, masks),
            program('dropout-webgpu', 30, 'conformance philox --engine webgpu --json --vectors', masks),
          ],
  };
}

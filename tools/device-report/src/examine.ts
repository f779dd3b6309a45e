import { createContext, type GpuContext } from '@tilewise/webgpu';
import { type Diagnosis, diagnose } from '@tilewise/webgpu/doctor';
import { cpuMachine, measureOnCpu } from './attention/cpu-rows.ts';
import { gpuMachine, measureOnGpu } from './attention/gpu-rows.ts';
import {
  type Machine,
  type Measurement,
  type MeasureSettings,
  measuredShapes,
} from './attention/measurement.ts';
import { fittingPeakWork, measurePeak, type PeakWork, peakWork } from './peak/measure.ts';
import type { DeviceReport, PeakReport } from './report/device-report.ts';

/** A stage of an examination. */
export type ExaminationStage = 'checks' | 'peak' | 'speed';

/** A progress message of an examination. */
export type ExaminationEvent =
  | {
      readonly kind: 'progress';
      readonly stage: ExaminationStage;
      readonly done: number;
      readonly total: number;
    }
  | { readonly kind: 'report'; readonly report: DeviceReport };

/** The environment of an examination. */
export interface ExaminationHost {
  /** The program, for the report: a browser's user agent, or the version of Node. */
  readonly name: string;
  /** Default: `navigator.gpu`. */
  readonly gpu?: GPU | undefined;
}

const notExamined: Diagnosis = {
  status: 'missing',
  verdict: 'The GPU was not examined: the CPU engine was chosen.',
  source: 'the CPU engine',
  adapter: null,
  features: [],
  limits: [],
  variants: [],
  checks: [],
};

/** Enough to see that everything works when there is little time. */
const smallPeakWork: PeakWork = { size: 256, copiedBytes: 16 * 2 ** 20 };

/**
 * Examines this machine: whether attention is right on its GPU, the peak of the GPU, and the speed of
 * attention. If there is no GPU, the CPU engine is measured. `tell` receives the report whenever a part of it
 * is added.
 */
export async function examineDevice(
  settings: MeasureSettings,
  { name, gpu }: ExaminationHost,
  tell: (event: ExaminationEvent) => void,
): Promise<DeviceReport> {
  const progress = (stage: ExaminationStage, done: number, total: number): void =>
    tell({ kind: 'progress', stage, done, total });
  const { engine, size } = settings;
  progress('checks', 0, 1);
  let checked = 0;
  const diagnosis =
    engine === 'cpu'
      ? notExamined
      : await diagnose({
          gpu,
          thorough: size === 'auto' ? 'hardware' : size !== 'small',
          onCheck: (_, of) => progress('checks', ++checked, of),
        });
  const made = new Date().toISOString();
  let report: DeviceReport = {
    format: 'tilewise-device-report',
    version: 1,
    ...{ made, host: name, diagnosis, peak: null, attention: null },
  };
  const add = (part: Partial<DeviceReport>): void => {
    report = { ...report, ...part };
    tell({ kind: 'report', report });
  };
  add({});
  const opened = engine === 'cpu' ? undefined : await open(gpu);
  if (!(opened && 'device' in opened)) {
    const rows = (heads: number, S: number) => measureOnCpu(settings, heads, S);
    await measureRows(settings, cpuMachine(opened?.reason), rows, 2);
    return report;
  }
  try {
    const software = diagnosis.adapter?.software ?? false;
    progress('peak', 0, 1);
    add({
      peak: await peakOf(opened, size === 'small' ? smallPeakWork : software ? peakWork.software : null),
    });
    const rows = (heads: number, S: number) => measureOnGpu(opened, settings, heads, S);
    await measureRows(settings, gpuMachine(opened, software), rows, 4);
  } finally {
    opened.destroy();
  }
  return report;

  async function measureRows(
    { D, dtype, causal }: MeasureSettings,
    machine: Machine,
    rows: (heads: number, S: number) => AsyncIterable<Measurement>,
    rowsEach: number,
  ): Promise<void> {
    const { heads, lengths } = measuredShapes(size, machine);
    const measurements: Measurement[] = [];
    const total = rowsEach * lengths.length;
    progress('speed', 0, total);
    for (const S of lengths) {
      for await (const row of rows(heads, S)) {
        measurements.push(row);
        add({ attention: { settings: { D, dtype, causal }, machine, measurements: [...measurements] } });
        progress('speed', measurements.length, total);
      }
    }
  }

  async function peakOf(ctx: GpuContext, work: PeakWork | null): Promise<PeakReport> {
    const peak = await measurePeak(ctx, work ?? (await fittingPeakWork(ctx)), (_, share) =>
      progress('peak', share, 1),
    );
    peak.destroy();
    const matmuls = peak.matmuls.map(({ precision, kernel, tflops }) => ({ precision, kernel, tflops }));
    return { size: peak.size, matmuls, gigabytesPerSecond: peak.gigabytesPerSecond, clock: peak.clock };
  }
}

/** A context, or why there is none. */
async function open(gpu: GPU | undefined): Promise<GpuContext | { readonly reason: string }> {
  try {
    const adapter = await gpu?.requestAdapter({ powerPreference: 'high-performance' });
    return await createContext(adapter ? { adapter } : {});
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
}

import type { Row } from '../suite/table.ts';
import { announcement, type CompiledKernel } from './compile.ts';
import { findLoop, parseListing, type WaveWork, workOfIteration } from './listing.ts';

/**
 * The workgroup memory, in bytes, that two compute units share; their four processors; and the waves of a
 * processor.
 */
const workgroupBytes = 128 * 1024;
const processors = 4;
const maxWaves = 16;
const waveLanes = 64;
/** Registers of a processor for each lane of a wave of 64, by family. */
const registersOf: Readonly<Record<string, number>> = { navi31: 768, navi32: 768 };
const fewRegisters = 512;

/** The report of Mesa's compiler on a kernel. */
interface MesaReport extends WaveWork {
  readonly registers: number;
  readonly spilled: number;
  readonly inverseThroughput: number;
  /** Waves that run on a processor at once, limited by registers and workgroup memory. */
  readonly waves: number;
  /**
   * Clocks of a processor for each score of a lane: instructions, or waiting that other waves do not hide.
   */
  readonly clocksPerScore: number;
}

/** Parses Mesa's report on a kernel: its statistics, and the listing of its instructions with clocks. */
function mesaReport(printed: string, kernel: CompiledKernel, family: string): MesaReport {
  // Kernels that were not announced may follow.
  const text = printed.slice(0, printed.indexOf('\n********************'));
  const statistic = (name: string): number => {
    const found = new RegExp(`^${name}: (\\d+)$`, 'm').exec(text);
    if (!found) throw new Error(`Mesa reported no '${name}'`);
    return Number(found[1]);
  };
  const loop = findLoop(parseListing(text), kernel.loop);
  if (!loop) throw new Error('the loop over tiles is not in the listing');
  const work = workOfIteration(loop, new Map(kernel.iterations));
  const registers = statistic('VGPRs');
  const groups = Math.floor(workgroupBytes / statistic('LDS size'));
  const waves = Math.min(
    maxWaves,
    Math.floor((registersOf[family] ?? fewRegisters) / registers),
    (groups * Math.ceil(kernel.lanes / waveLanes)) / processors,
  );
  return {
    ...{ ...work, registers, waves, inverseThroughput: statistic('Inverse Throughput') },
    spilled: statistic('Spilled VGPRs') + statistic('Spilled SGPRs'),
    clocksPerScore: Math.max(work.busy, (work.busy + work.waiting) / waves) / kernel.scores,
  };
}

/** One row for each announced kernel in the output of a process. */
export function rdnaRows(printed: string, family: string): Row[] {
  const compiled = printed
    .split(announcement)
    .slice(1)
    .map(text => {
      const end = text.indexOf('\n');
      const kernel = JSON.parse(text.slice(0, end)) as CompiledKernel;
      return { kernel, mesa: mesaReport(text.slice(end), kernel, family) };
    });
  return compiled.map(({ kernel: { kernel, D, dtype, which, tile, model }, mesa }, n) => {
    // The old tile of a kernel comes before the new one.
    const old = compiled[n - (n % 2)].mesa;
    return {
      ...{ kernel, D, dtype, which, tile, family },
      'storage bytes / FLOP': model.storageBytesPerFlop,
      'workgroup bytes / FLOP': model.workgroupBytesPerFlop,
      'barriers / key tile': model.barriersPerKeyTile,
      'model: registers': model.registers,
      'Mesa: registers': mesa.registers,
      'Mesa: spilled': mesa.spilled,
      'Mesa: inverse throughput': mesa.inverseThroughput,
      'model: busy clocks': model.busyClocks,
      'Mesa: busy clocks': mesa.busy,
      'model: waiting clocks': model.waitingClocks,
      'Mesa: waiting clocks': mesa.waiting,
      'Mesa: multiply-adds': mesa.multiplyAdds,
      'Mesa: waves': mesa.waves,
      'model: time of old': model.relativeTime,
      'Mesa: time of old': mesa.clocksPerScore / old.clocksPerScore,
    };
  });
}

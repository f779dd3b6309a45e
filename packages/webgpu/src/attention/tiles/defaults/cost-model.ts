import { type AttentionProblem, dtypeInfo } from '@tilewise/core';
import type { AdapterClass } from '../../../device/capabilities/adapter-class.ts';
import { type TileRole, tileSize } from '../tile.ts';
import { resultVectors, stagedRows, vectorsPerLane, workgroupTileMemory } from '../workgroup/memory.ts';
import { completeTile } from '../workgroup/plain-tile.ts';
import { subgroupRowReduction } from '../workgroup/variants/subgroup-row-reduction.ts';
import { vectorsInFlight } from '../workgroup/variants/unrolling.ts';
import type { WorkgroupTile, WorkgroupTileShape } from '../workgroup/workgroup-tile.ts';

/**
 * The work of a workgroup for one tile of scores, and the time that the model predicts for the work on a
 * core.
 */
export interface TileCost {
  /** Floating-point operations: two per multiply-add. */
  readonly flops: number;
  /** Bytes read from storage, and bytes written to and read from workgroup memory. */
  readonly storageBytes: number;
  readonly workgroupBytes: number;
  readonly barriers: number;
  /** The number of 32-bit registers that a lane needs. */
  readonly registers: number;
  /** Whether a lane needs more registers than it has. */
  readonly spills: boolean;
  /** The bytes of workgroup memory that the workgroup occupies. */
  readonly occupiedBytes: number;
  /** The number of workgroups that a core runs at once, and the number of their lanes. */
  readonly groupsInFlight: number;
  readonly lanesInFlight: number;
  /** Clocks of one wave: those in which it issues instructions, and those in which it waits. */
  readonly busyClocks: number;
  readonly waitingClocks: number;
  /** Clocks of a core that is fully occupied. */
  readonly clocks: number;
}

// Clocks of a wave that issues one multiply-add per clock, as Mesa's compiler for RDNA 3 lists them. A read
// includes its share of computing and clamping addresses (WebGPU checks bounds) and of the surrounding loop.
const clocksOfRead = { unrolled: 4, looped: 10 } as const;
const clocksOfCopy = { unrolled: 90, looped: 160 } as const;
const clocksOfScore = 63;
/** Additional clocks that a wave waits for storage if a loop waits for each read. */
const clocksOfTurn = { unrolled: 0, looped: 12 } as const;
/** Clocks that a wave waits for a read of workgroup memory whose result the next instruction needs. */
const clocksOfStep = { unrolled: 6, looped: 9 } as const;
/** Clocks until all waves of a workgroup have reached a barrier. */
const clocksOfBarrier = 20;
/** Registers for addresses, lengths and row statistics. */
const otherRegisters = 44;

/** The parts of a problem that the cost of a tile depends on. */
export type CostedProblem = Pick<AttentionProblem, 'Dqk' | 'Dv' | 'q'>;

/**
 * The products of a kernel: the head sizes of the products that give scores, and of the sums, which are over
 * keys or queries.
 */
function productsOf(role: TileRole, { Dqk, Dv }: CostedProblem) {
  return {
    scores: role === 'forward' || role === 'decode' ? [Dqk] : [Dqk, Dv],
    sums: { forward: [Dv], decode: [Dv], dq: [Dqk], dkdv: [Dv, Dqk] }[role],
    overKeys: role !== 'dkdv',
  };
}

/** The work of a workgroup for one tile of scores. */
interface TileWork extends Pick<TileCost, 'flops' | 'storageBytes' | 'workgroupBytes' | 'barriers'> {
  /** The vec4s that a lane copies from storage to workgroup memory, in chunks between two barriers. */
  readonly copies: number;
  readonly chunks: number;
  /** The vec4s of operands and of weights that a lane reads from workgroup memory, in steps of its loops. */
  readonly operandReads: number;
  readonly weightReads: number;
  readonly steps: number;
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0);

function workOf(tile: WorkgroupTile, role: TileRole, problem: CostedProblem): TileWork {
  const { tx, rows, cols, headDimChunk, stagingDType, rowReduction } = tile;
  const { scores, sums, overKeys } = productsOf(role, problem);
  const { rows: queries, cols: keys, lanes } = tileSize(tile);
  const length = overKeys ? keys : queries;
  const weights = overKeys ? rows / 4 : cols;
  const vectors = (D: number): number => Math.ceil(D / 4);

  const scoreVectors = total(scores.map(D => (queries + keys) * vectors(D)));
  const sumVectors = total(sums.map(D => length * vectors(D)));
  const scoreChunks = total(scores.map(D => Math.ceil(vectors(D) / headDimChunk)));
  const sumChunks = total(sums.map(D => length / Math.max(1, stagedRows(tile, D, length))));
  const scoreSteps = total(scores.map(vectors));
  const sumSteps = sums.length * length;
  const sumReads = total(sums.map(D => length * vectorsPerLane(D, tile)));

  const copied = scoreVectors + sumVectors;
  const chunks = scoreChunks + sumChunks;
  const operandReads = scoreSteps * (rows + 4 * cols) + sumReads;
  const weightReads = sumSteps * weights;
  const stagedBytes = stagingDType === 'f16' ? 8 : 16;
  const weightsOfLane = sums.length * rows * cols;
  const reduces = role === 'forward' && rowReduction !== subgroupRowReduction;
  return {
    ...{ copies: copied / lanes, chunks, operandReads, weightReads, steps: scoreSteps + sumSteps },
    flops: 2 * queries * keys * (total(scores) + total(sums)),
    storageBytes: copied * 4 * dtypeInfo[problem.q.dtype].bytes,
    workgroupBytes:
      copied * stagedBytes +
      lanes * (operandReads * stagedBytes + (weightReads + weightsOfLane) * 16) +
      (reduces ? lanes * rows * (tx + 1) * 4 : 0),
    barriers: 2 * chunks + (reduces ? 1 : 0) + (sums.length - 1),
  };
}

/** The cost of a kernel with a tile in workgroup memory, on one core of a class of adapters. */
export function tileCost(
  shape: WorkgroupTileShape,
  role: TileRole,
  problem: CostedProblem,
  core: AdapterClass,
): TileCost {
  const tile = completeTile(
    shape,
    shape.rowReduction === 'subgroup' ? { rowReduction: subgroupRowReduction } : {},
  );
  const { rows, cols, stagingDType } = tile;
  const { lanes } = tileSize(tile);
  const { copies, chunks, operandReads, weightReads, steps, ...work } = workOf(tile, role, problem);
  const { flops, storageBytes, workgroupBytes, barriers } = work;

  const ownScores = 4 * rows * cols;
  const accumulators = total(productsOf(role, problem).sums.map(D => 4 * resultVectors(D, tile)));
  const registers = accumulators + 3 * ownScores + otherRegisters;
  const occupiedBytes = workgroupTileMemory(tile, role);
  const fitting = Math.min(
    Math.floor(core.workgroupMemory / occupiedBytes),
    Math.floor(core.registerBytes / (4 * registers * lanes)),
    Math.floor(core.lanesInFlight / lanes),
  );
  const groupsInFlight = Math.max(1, fitting);

  // Compilers unroll loops over prefetched vectors, which are in registers.
  const way = shape.unrolled || shape.prefetch ? 'unrolled' : 'looped';
  const busyClocks =
    flops / 2 / lanes +
    clocksOfRead[way] * (operandReads + weightReads) +
    (stagingDType === 'f16' ? core.f16Clocks * operandReads : 0) +
    copies * clocksOfCopy[way] +
    ownScores * clocksOfScore;
  // A lane waits for storage once for each read, or once for all reads that are in flight together.
  // Prefetched reads arrive while the previous chunk is multiplied.
  const inFlight = shape.prefetch ? copies / chunks : shape.unrolled ? vectorsInFlight : 1;
  const waits = Math.max(chunks, copies / inFlight);
  const hidden = shape.prefetch ? busyClocks / chunks : 0;
  const waitingClocks =
    waits * Math.max(0, core.storageLatency + clocksOfTurn[way] - hidden) +
    clocksOfStep[way] * steps +
    clocksOfBarrier * barriers;
  const clocks = Math.max(
    (busyClocks * lanes) / core.lanesPerClock,
    workgroupBytes / core.workgroupBytesPerClock,
    storageBytes / core.storageBytesPerClock,
    (busyClocks + waitingClocks) / groupsInFlight,
  );
  return {
    ...{ ...work, registers, occupiedBytes, groupsInFlight, busyClocks, waitingClocks, clocks },
    ...{ spills: registers > core.registersPerLane, lanesInFlight: groupsInFlight * lanes },
  };
}

/** Clocks per FLOP of a kernel whose `groups` workgroups share the cores of an adapter. */
export function clocksPerFlop(
  { flops, clocks, busyClocks, waitingClocks }: TileCost,
  groups: number,
  cores: number,
): number {
  // A workgroup never takes less time than it takes alone, no matter how few workgroups there are.
  const perCore = Math.max(groups / cores, (busyClocks + waitingClocks) / clocks);
  return (perCore * clocks) / (flops * groups);
}

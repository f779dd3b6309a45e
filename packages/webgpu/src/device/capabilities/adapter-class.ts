import type { Capabilities } from './capabilities.ts';

/**
 * The properties of one core in a class of adapters that affect the time of a tile. The numbers are rounded
 * figures of the architectures, and were not checked against vendors' manuals: a model that only ranks tiles
 * needs no better ones. An H100 confirms the times of `nvidia`, relative to each other, within a fifth in
 * forward and dQ; dK/dV takes longer than predicted. Mesa's compiler for RDNA confirms the registers and
 * clocks of `amd`; Mesa's compiler for Intel spills a few registers of tiles that need nearly all of
 * `intel`. No adapter of the other classes was measured.
 */
export interface AdapterClass {
  readonly name: string;
  /** f32 multiply-adds per clock. */
  readonly lanesPerClock: number;
  /** Bytes per clock that lanes read from workgroup memory, and from cached storage. */
  readonly workgroupBytesPerClock: number;
  readonly storageBytesPerClock: number;
  /** The latency of a read from storage, in clocks. */
  readonly storageLatency: number;
  /** The bytes of registers and of workgroup memory that all workgroups on the core share. */
  readonly registerBytes: number;
  readonly workgroupMemory: number;
  /** The number of 32-bit registers that a lane can use before registers spill to memory. */
  readonly registersPerLane: number;
  /**
   * Whether a subgroup has a fixed number of registers, of which its lanes have more each if they are fewer.
   */
  readonly fixedSubgroupRegisters?: true;
  readonly lanesInFlight: number;
  /** The clocks that the conversion of four f16 numbers from workgroup memory takes. */
  readonly f16Clocks: number;
  /** The head size up to which the subgroup matrices of a forward kernel stay in registers. */
  readonly matrixChannels: number;
  /**
   * The largest number of a matrix product's sums that a lane keeps in registers beside the operands. Mesa's
   * compiler confirms the number of `amd`, and a kernel on an H200 that of `nvidia`.
   */
  readonly matrixSums: number;
  /** The number of cores of a common adapter of the class. */
  readonly cores: number;
}

const KiB = 1024;

/** The classes by the vendor's name, as adapters report it. */
const classes: Readonly<Record<string, Omit<AdapterClass, 'name'>>> = {
  // A streaming multiprocessor, from Ampere to Hopper.
  nvidia: {
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 128, storageBytesPerClock: 64, storageLatency: 450 },
    ...{ registerBytes: 256 * KiB, workgroupMemory: 100 * KiB, registersPerLane: 240, lanesInFlight: 1536 },
    ...{ f16Clocks: 8, matrixChannels: 128, matrixSums: 128, cores: 40 },
  },
  // A compute unit of RDNA. A multiply-add that reads f16 is not issued in pairs.
  amd: {
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 128, storageBytesPerClock: 64, storageLatency: 350 },
    ...{ registerBytes: 256 * KiB, workgroupMemory: 64 * KiB, registersPerLane: 240, lanesInFlight: 1024 },
    ...{ f16Clocks: 16, matrixChannels: 64, matrixSums: 64, cores: 32 },
  },
  // A core of the M series. Instructions read f16 operands as fast as f32.
  apple: {
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 128, storageBytesPerClock: 64, storageLatency: 350 },
    ...{ registerBytes: 208 * KiB, workgroupMemory: 60 * KiB, registersPerLane: 128, lanesInFlight: 1024 },
    ...{ f16Clocks: 0, matrixChannels: 128, matrixSums: 32, cores: 10 },
  },
  // An Xe core. In the smallest subgroups, of 8 lanes or, from Xe2 on, 16, a lane has 128 registers.
  intel: {
    fixedSubgroupRegisters: true,
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 128, storageBytesPerClock: 64, storageLatency: 350 },
    ...{ registerBytes: 512 * KiB, workgroupMemory: 64 * KiB, registersPerLane: 128, lanesInFlight: 1024 },
    ...{ f16Clocks: 4, matrixChannels: 64, matrixSums: 32, cores: 16 },
  },
  // A shader processor of Adreno.
  qualcomm: {
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 64, storageBytesPerClock: 32, storageLatency: 400 },
    ...{ registerBytes: 128 * KiB, workgroupMemory: 32 * KiB, registersPerLane: 128, lanesInFlight: 1024 },
    ...{ f16Clocks: 4, matrixChannels: 64, matrixSums: 32, cores: 4 },
  },
  // A core of Mali, whose workgroup memory is in the same cache as storage.
  arm: {
    ...{ lanesPerClock: 64, workgroupBytesPerClock: 32, storageBytesPerClock: 32, storageLatency: 300 },
    ...{ registerBytes: 128 * KiB, workgroupMemory: 32 * KiB, registersPerLane: 64, lanesInFlight: 512 },
    ...{ f16Clocks: 4, matrixChannels: 64, matrixSums: 32, cores: 8 },
  },
};

/** An adapter that does not name its vendor. The numbers are near the smallest of the classes. */
const unknown: AdapterClass = {
  name: 'unknown',
  ...{ lanesPerClock: 64, workgroupBytesPerClock: 64, storageBytesPerClock: 32, storageLatency: 400 },
  ...{ registerBytes: 128 * KiB, workgroupMemory: 32 * KiB, registersPerLane: 128, lanesInFlight: 512 },
  ...{ f16Clocks: 8, matrixChannels: 64, matrixSums: 32, cores: 8 },
};

/** The names of the classes. */
export const adapterClassNames: readonly string[] = Object.keys(classes);

/** The class of an adapter, determined by its vendor. */
export function adapterClass({ adapter }: Pick<Capabilities, 'adapter'>): AdapterClass {
  const [name] = adapter.toLowerCase().split(' ');
  return Object.hasOwn(classes, name) ? { name, ...classes[name] } : unknown;
}

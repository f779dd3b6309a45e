import type { Capabilities } from '../../../device/capabilities/capabilities.ts';

/**
 * One core of a class of adapters, as far as the time of a tile depends on the core. The numbers are rounded
 * figures of the architectures, which were not checked against vendors' manuals: a model that orders tiles
 * needs no more. No such adapter was measured; Mesa's compiler for RDNA confirms registers and clocks of
 * `amd`.
 */
export interface AdapterClass {
  readonly name: string;
  /** Multiply-adds of f32 per clock. */
  readonly lanesPerClock: number;
  /** Bytes per clock that lanes read from workgroup memory, and from storage that lies in a cache. */
  readonly workgroupBytesPerClock: number;
  readonly storageBytesPerClock: number;
  /** Clocks until a read of storage arrives. */
  readonly storageLatency: number;
  /** Bytes of registers, and of workgroup memory, that all workgroups on the core share. */
  readonly registerBytes: number;
  readonly workgroupMemory: number;
  /** Registers of 32 bits that a lane can have before registers spill to memory. */
  readonly registersPerLane: number;
  readonly lanesInFlight: number;
  /** Clocks that the conversion of four numbers of f16 from workgroup memory takes. */
  readonly f16Clocks: number;
  /** Head size up to which subgroup matrices of a forward kernel stay in registers. */
  readonly matrixChannels: number;
  /** Cores of a common adapter of the class. */
  readonly cores: number;
}

const KiB = 1024;

/** The classes by the vendor's name, as adapters give it. */
const classes: Readonly<Record<string, Omit<AdapterClass, 'name'>>> = {
  // A streaming multiprocessor, Ampere to Hopper.
  nvidia: {
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 128, storageBytesPerClock: 64, storageLatency: 450 },
    ...{ registerBytes: 256 * KiB, workgroupMemory: 100 * KiB, registersPerLane: 240, lanesInFlight: 1536 },
    ...{ f16Clocks: 8, matrixChannels: 128, cores: 40 },
  },
  // A compute unit of RDNA. A multiply-add that reads f16 is not issued in pairs.
  amd: {
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 128, storageBytesPerClock: 64, storageLatency: 350 },
    ...{ registerBytes: 256 * KiB, workgroupMemory: 64 * KiB, registersPerLane: 240, lanesInFlight: 1024 },
    ...{ f16Clocks: 16, matrixChannels: 64, cores: 32 },
  },
  // A core of the M series: instructions read f16 as they read f32.
  apple: {
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 128, storageBytesPerClock: 64, storageLatency: 350 },
    ...{ registerBytes: 208 * KiB, workgroupMemory: 60 * KiB, registersPerLane: 128, lanesInFlight: 1024 },
    ...{ f16Clocks: 0, matrixChannels: 128, cores: 10 },
  },
  // An Xe core, whose lanes have 128 registers in groups of 8 lanes, and 64 in groups of 16.
  intel: {
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 128, storageBytesPerClock: 64, storageLatency: 350 },
    ...{ registerBytes: 512 * KiB, workgroupMemory: 64 * KiB, registersPerLane: 128, lanesInFlight: 1024 },
    ...{ f16Clocks: 4, matrixChannels: 64, cores: 16 },
  },
  // A shader processor of Adreno.
  qualcomm: {
    ...{ lanesPerClock: 128, workgroupBytesPerClock: 64, storageBytesPerClock: 32, storageLatency: 400 },
    ...{ registerBytes: 128 * KiB, workgroupMemory: 32 * KiB, registersPerLane: 128, lanesInFlight: 1024 },
    ...{ f16Clocks: 4, matrixChannels: 64, cores: 4 },
  },
  // A core of Mali, whose workgroup memory lies in the cache that storage lies in.
  arm: {
    ...{ lanesPerClock: 64, workgroupBytesPerClock: 32, storageBytesPerClock: 32, storageLatency: 300 },
    ...{ registerBytes: 128 * KiB, workgroupMemory: 32 * KiB, registersPerLane: 64, lanesInFlight: 512 },
    ...{ f16Clocks: 4, matrixChannels: 64, cores: 8 },
  },
};

/** An adapter that does not name its vendor: no number is larger than in any class. */
const unknown: AdapterClass = {
  name: 'unknown',
  ...{ lanesPerClock: 64, workgroupBytesPerClock: 64, storageBytesPerClock: 32, storageLatency: 400 },
  ...{ registerBytes: 128 * KiB, workgroupMemory: 32 * KiB, registersPerLane: 128, lanesInFlight: 512 },
  ...{ f16Clocks: 8, matrixChannels: 64, cores: 8 },
};

/** The names of the classes. */
export const adapterClassNames: readonly string[] = Object.keys(classes);

/** The class of an adapter, by its vendor. */
export function adapterClass({ adapter }: Pick<Capabilities, 'adapter'>): AdapterClass {
  const [name] = adapter.toLowerCase().split(' ');
  return Object.hasOwn(classes, name) ? { name, ...classes[name] } : unknown;
}

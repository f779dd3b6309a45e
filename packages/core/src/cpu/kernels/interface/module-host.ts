/**
 * Functions on four lanes, which modules generated at run time import; the host cannot call them. See
 * `assembly/vector/lanes.ts`.
 */
export type LaneFunctions = Readonly<Record<LaneFunction, WebAssembly.ExportValue>>;

export type LaneFunction = 'logLanes' | 'floorDivLanes' | 'modLanes';

/** The memory that other modules import to work beside the kernels. */
export interface WasmHost {
  readonly memory: WebAssembly.Memory;
  /** Whether the memory is shared, which a module must declare when it imports the memory. */
  readonly shared: boolean;
}

/** The memory, and the kernels of attention as WebAssembly functions for modules that call them. */
export interface HeadHost extends WasmHost {
  readonly kernels: WebAssembly.Exports;
}

/** The memory and functions that a loop compiled at run time imports. */
export interface LoopHost extends WasmHost {
  readonly lanes: LaneFunctions;
}

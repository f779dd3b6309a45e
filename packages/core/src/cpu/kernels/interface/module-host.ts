/**
 * Functions of four lanes, which modules that are made at run time import; the host cannot call them. See
 * `assembly/lanes.ts`.
 */
export type LaneFunctions = Readonly<Record<LaneFunction, WebAssembly.ExportValue>>;

export type LaneFunction =
  | 'expLanes'
  | 'tanhLanes'
  | 'erfLanes'
  | 'logLanes'
  | 'halfLanes'
  | 'toHalfLanes'
  | 'toBf16Lanes'
  | 'floorDivLanes'
  | 'modLanes';

/** What other modules that work on the memory of kernels are linked with. */
export interface WasmHost {
  readonly memory: WebAssembly.Memory;
  /** Whether the memory is shared: a module says so where it imports it. */
  readonly shared: boolean;
}

/** What a loop that is compiled at run time is linked with. */
export interface LoopHost extends WasmHost {
  readonly lanes: LaneFunctions;
}

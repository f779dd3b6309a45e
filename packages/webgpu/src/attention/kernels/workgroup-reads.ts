import type { ShaderPart } from '../../codegen/shader-part.ts';

/** A statement for the start of a loop over tiles, which skips the tile unless `condition` holds. */
export const skipUnless = (condition: string): string =>
  condition ? `if (!(${condition})) {\n      continue;\n    }` : '';

/**
 * How a kernel reads the values that decide the control flow of a whole workgroup: its sequence, and whether
 * a tile is visible at all.
 */
export interface WorkgroupReads {
  readonly part: ShaderPart;
  /** Declares `seq`, the sequence of batch entry `b`. */
  readonly sequence: (b: string) => string;
  /** Skips the tile unless the condition holds; empty if there is no condition. */
  readonly skip: (condition: string) => string;
}

const direct: WorkgroupReads = {
  part: {},
  sequence: b => `let seq = sequence_at(${b});`,
  skip: skipUnless,
};

const shared: WorkgroupReads = {
  part: { code: 'var<workgroup> shared_sequence: Sequence;\nvar<workgroup> shared_visible: bool;' },
  sequence: b => `if (lane == 0u) {
    shared_sequence = sequence_at(${b});
  }
  let seq = workgroupUniformLoad(&shared_sequence);`,
  skip: condition =>
    condition &&
    `if (lane == 0u) {
      shared_visible = ${condition};
    }
    ${skipUnless('workgroupUniformLoad(&shared_visible)')}`,
};

/**
 * A kernel with more tensors than the device binds reads lists and masks from the workspace. WGSL treats a
 * value that is read from a buffer which the kernel writes as non-uniform, so in a kernel that writes to the
 * workspace, one lane reads the value for all.
 */
export function workgroupReads(writesWorkspace: boolean): WorkgroupReads {
  return writesWorkspace ? shared : direct;
}

/**
 * The flags of the WebGPU specification. Browsers have them as globals; Node has no globals for a device that
 * the caller brings, so kernels do not rely on them.
 */
export const bufferUsage = {
  MAP_READ: 0x1,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
  QUERY_RESOLVE: 0x200,
} as const;

/** The feature of subgroup matrices as Dawn names it, where unsafe features are allowed. */
export const subgroupMatrixFeature = 'chromium-experimental-subgroup-matrix';

export const mapModeRead = 0x1;
export const shaderStageCompute = 0x4;

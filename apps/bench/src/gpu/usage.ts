/** The flags of the WebGPU specification, which TypeScript's own types have no values for. */
export const usage = {
  MAP_READ: 0x1,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
} as const;

export const mapRead = 0x1;

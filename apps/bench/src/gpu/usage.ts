/** The flags of the WebGPU specification; TypeScript's own types do not include their values. */
export const usage = {
  MAP_READ: 0x1,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
} as const;

export const mapRead = 0x1;

/** The name of a captured tensor among a plan's tensors. */
export const captureTensor = (name: string): string => `captures.${name}`;

/** The name of a captured tensor's gradient among a plan's tensors. */
export const captureGradient = (name: string): string => `dCaptures.${name}`;

/** The name of the dropout mask that a plan writes; `dropoutMask` is the mask that it reads. */
export const dropoutMaskOutput = 'outputs.dropoutMask';

/** The least power of two that is not below n; 1 for what is below 1. */
export const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(Math.max(n, 1)));

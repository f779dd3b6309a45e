/** A number of things, such as `1 tile` and `2 tiles`. */
export const counted = (
  n: number,
  one: string,
  many: string,
  write: (value: number) => string = String,
): string => `${write(n)} ${n === 1 ? one : many}`;

/** Returns a function that runs calls one after the other, even if calls before fail. */
export function serialQueue(): <R>(call: () => Promise<R>) => Promise<R> {
  let last: Promise<unknown> | undefined;
  return call => {
    const result = last ? last.then(call, call) : call();
    last = result;
    return result;
  };
}

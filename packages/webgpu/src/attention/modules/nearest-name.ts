// A separate module, so that bundlers load only this and not all of core.
export { nearestName } from '@tilewise/core';

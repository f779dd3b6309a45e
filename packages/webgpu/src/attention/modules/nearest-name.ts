// A module of its own, so that bundlers load this and not all of core.
export { nearestName } from '@tilewise/core';

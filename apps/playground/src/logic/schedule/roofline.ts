import { type Traffic, tilesMoved } from './loop-order.ts';

/** A device, by the numbers of its data sheet. */
export interface Device {
  /** TFLOP/s of matrix arithmetic. */
  readonly peak: number;
  /** GB/s of main memory. */
  readonly bandwidth: number;
}

/**
 * Floating-point operations of n × n visits of tiles of `tile` rows with head size d: two matrix products
 * each.
 */
export function flops(n: number, tile: number, d: number): number {
  return n * n * 4 * tile * tile * d;
}

/** Bytes of a schedule: a tile has tile × d elements. */
export function bytesMoved(traffic: Traffic, tile: number, d: number, bytesPerElement: number): number {
  return tilesMoved(traffic) * tile * d * bytesPerElement;
}

/**
 * Bytes of attention in three steps that store S and P, with the same tiles: S = QKᵀ loads Q once and K for
 * every query tile; the softmax reads S and writes P; O = PV reads P and V for every tile.
 */
export function naiveBytesMoved(n: number, tile: number, d: number, bytesPerElement: number): number {
  const narrow = n + n * n + n * n + n;
  const square = 4 * n * n;
  return (narrow * tile * d + square * tile * tile) * bytesPerElement;
}

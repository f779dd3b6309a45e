import { describe, expect, it } from 'vitest';
import { parsePlace, placeHash } from './url-state.ts';

describe('places in the URL', () => {
  it('are read back as they were written', () => {
    const place = { chapter: 'machine', state: { program: 'LOAD a[0][0], R0\n; ü & #?', registers: '3' } };
    expect(parsePlace(placeHash(place))).toEqual(place);
  });

  it('redirect from a chapter that became part of another chapter, with its state', () => {
    expect(parsePlace('#/bench?d=128')).toEqual({ chapter: 'doctor', state: { d: '128' } });
  });

  it('may have the name of a property that every object has', () => {
    expect(parsePlace('#/constructor')).toEqual({ chapter: 'constructor', state: {} });
  });

  it('are the first page without a hash', () => {
    expect(parsePlace('')).toEqual({ chapter: '', state: {} });
  });
});

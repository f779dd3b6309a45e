import { expect, it } from 'vitest';
import { keyStep } from './grid-keys.ts';

it('steps with the arrows, further with Shift, and stays inside', () => {
  const press = (key: string, shiftKey = false) => keyStep({ key, shiftKey }, [3, 0], [10, 10]);
  expect(press('ArrowDown')).toEqual([4, 0]);
  expect(press('ArrowRight', true)).toEqual([3, 8]);
  expect(press('ArrowDown', true)).toEqual([9, 0]);
  expect(press('ArrowLeft')).toEqual([3, 0]);
  expect(press('a')).toBeNull();
});

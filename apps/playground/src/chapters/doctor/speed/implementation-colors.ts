import type { Measurement } from '@tilewise/device-report';

/** The colours of the two ways to compute attention, in charts and tables. */
export const implementationColors: Readonly<Record<Measurement['implementation'], string>> = {
  flash: 'var(--accent)',
  naive: 'var(--write)',
};

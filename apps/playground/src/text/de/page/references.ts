import type { Text } from '../../text.ts';

export const references: Text['references'] = {
  title: 'Zum Weiterlesen',
  why: {
    vaswani: 'Der Ursprung der Scaled Dot-Product Attention.',
    milakov: 'Das laufende Maximum und die laufende Summe aus Kapitel 2.',
    rabe: 'Attention in einem Durchgang, mit einem Speicherbedarf, der nicht mit n² wächst.',
    dao: 'Kacheln, und warum der Speicherverkehr entscheidet: Keys außen.',
    dao2: 'Queries außen, und was jede Workgroup tut.',
    olsson:
      'Die Köpfe, die finden, was zuletzt auf dasselbe Token folgte: Genau das lehrt die Aufgabe mit den Paaren.',
    welford: 'Die Varianz in einem Durchgang.',
    salmon: 'Philox: Zufallszahlen aus Zählern.',
    williams: 'Die Roofline.',
  },
};

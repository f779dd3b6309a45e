import type { Text } from '../../text.ts';

export const references: Text['references'] = {
  title: 'Zum Weiterlesen',
  why: {
    vaswani: 'Woher Scaled Dot-Product Attention kommt.',
    milakov: 'Das laufende Maximum und die laufende Summe aus Kapitel 2.',
    rabe: 'Attention in einem Durchgang, mit Speicher, der nicht mit n² wächst.',
    dao: 'Kacheln, und warum der Verkehr mit dem Speicher entscheidet: Keys außen.',
    dao2: 'Queries außen, und was jede Arbeitsgruppe tut.',
    olsson:
      'Die Köpfe, die finden, was beim letzten Mal nach demselben Token kam: was die Aufgabe mit den Paaren lehrt.',
    welford: 'Die Varianz in einem Durchgang.',
    salmon: 'Philox: Zufallszahlen aus Zählern.',
    williams: 'Die Roofline.',
  },
};

import type { Text } from '../../text.ts';

export const references: Text['references'] = {
  title: 'Zum Weiterlesen',
  why: {
    vaswani: 'Der Ursprung der Scaled Dot-Product Attention.',
    milakov: 'Das laufende Maximum und die laufende Summe aus Kapitel 2.',
    rabe: 'Attention in einem Durchgang, mit einem Speicherbedarf, der nicht mit n² wächst.',
    dao: 'Kacheln mit den Keys in der äußeren Schleife, und warum der Speicherverkehr über das Tempo entscheidet.',
    dao2: 'Die Queries in der äußeren Schleife, und wie sich die Workgroups die Arbeit teilen.',
    olsson:
      'Köpfe, die eine frühere Kopie des aktuellen Tokens suchen und lesen, was darauf folgte, wie bei der Aufgabe mit den Paaren.',
    welford: 'Die Varianz in einem Durchgang.',
    salmon: 'Philox: Zufallszahlen aus Zählern.',
    williams: 'Die Roofline.',
  },
};

import type { Text } from '../../text.ts';

export const softmax: Text['softmax'] = {
  intro:
    'Softmax macht aus Scores Gewichte, deren Summe eins ist. In 32-Bit-Zahlen läuft $e^x$ über, sobald $x$ größer als etwa 88,7 ist, also wird zuerst das Maximum abgezogen. Aber das Maximum ist erst bekannt, wenn alles gelesen ist …',
  loop: '`FOR i = 1 TO n-1` … `END` wiederholt die Zeilen dazwischen; das kostet nichts und zeigt, wie ein Programm mit n wächst.',
  numbers: 'Zahlen (n)',
  shift: 'Zu jeder Zahl addiert',
  verdict: (n, reads, writes) => `Für n = ${n}: ${reads} DRAM-Lese- und ${writes} Schreibzugriffe.`,
  paths: 'Zwei Wege zur selben Summe',
  pathsWhy: [
    'Die zweite Spalte kennt das Maximum aller Zahlen im Voraus; die letzte hat nur das Maximum bisher und korrigiert, was sie summiert hat, wenn es steigt. Unterwegs unterscheiden sie sich, am Ende treffen sie sich.',
  ],
  factor: 'Der Faktor, der korrigiert',
  factors: { difference: 'exp(m − m′)', quotient: 'exp(m) / exp(m′)' },
  meet: (global, running) => `Beide enden in derselben Summe: ${global} und ${running}.`,
  overflowed: 'exp(m) ist mehr, als eine 32-Bit-Zahl fasst: ∞ / ∞ ist keine Zahl.',
  overflowWhy:
    "Der Faktor $e^{m-m'}$ ist höchstens 1. Als $e^{m} / e^{m'}$ geschrieben ist er auf dem Papier derselbe, aber $e^{100}$ ist mehr, als eine 32-Bit-Zahl fasst. Stell den Faktor um, addiere 100 zu jeder Zahl und sieh zu.",
  showOverflow: 'Auf der Maschine überlaufen lassen',
  showOverflowEarly: 'Auf der Maschine überlaufen lassen (mit einem Programm für Aufgabe 5)',
  counts: 'Was ein Register erspart',
  countsWhy:
    'Gezählt, indem beide Programme laufen. Das Online-Programm rechnet je Zahl mehr und liest einmal weniger: Langsam ist der Speicher.',
  countsChart: reads =>
    `DRAM-Lesezugriffe gegen n: ${reads.join(' für sicheres Softmax, ')} für Online-Softmax`,
  passes: 'Durchgänge durch x',
  reads: 'DRAM gelesen',
  writes: 'DRAM geschrieben',
  operations: 'Rechenschritte',
  welford: 'Welfords Algorithmus',
  nothingNew: 'Nichts Neues unter der Sonne?',
  nothingNewAnswer: [
    'Ein laufender Zustand, der korrigiert wird, wenn sein Bezugspunkt wandert: Die Idee kommt aus der Statistik, die Sorge um den Überlauf aus der Numerik, der einzige Durchgang aus der Algorithmik und der Grund für die Mühe aus der Rechnerarchitektur. Jedes Fach hat ein Stück davon, und wenige Vorlesungen setzen sie zusammen.',
  ],
};

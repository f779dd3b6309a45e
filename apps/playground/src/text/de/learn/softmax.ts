import type { Text } from '../../text.ts';

export const softmax: Text['softmax'] = {
  intro:
    'Der Softmax macht aus Scores Gewichte, deren Summe eins ist. Mit 32-Bit-Gleitkommazahlen läuft $e^x$ über, sobald $x$ größer als etwa 88,7 ist. Also ziehen wir zuerst das Maximum ab. Aber um das Maximum zu kennen, müssen wir erst alles lesen …',
  loop: '`FOR i = 1 TO n-1` … `END` wiederholt die Zeilen dazwischen. Die Schleife selbst kostet keine Takte; so zeigen die Zähler, wie die Arbeit mit n wächst.',
  numbers: 'Zahlen (n)',
  shift: 'Zu jeder Zahl addiert',
  verdict: (n, reads, writes) => `Für n = ${n}: DRAM-Lesezugriffe ${reads}, Schreibzugriffe ${writes}.`,
  paths: 'Zwei Wege zur selben Summe',
  pathsWhy: [
    'Die zweite Spalte kennt das Maximum aller Zahlen im Voraus. Die letzte Spalte kennt nur das bisherige Maximum und korrigiert ihre Summe, sobald es steigt. Unterwegs unterscheiden sich die beiden Summen, am Ende stimmen sie überein.',
  ],
  factor: 'Korrekturfaktor',
  factors: { difference: 'exp(m − m′)', quotient: 'exp(m) / exp(m′)' },
  meet: (global, running) => `Beide enden in derselben Summe: ${global} und ${running}.`,
  overflowed: 'exp(m) ist für eine 32-Bit-Gleitkommazahl zu groß, und ∞ / ∞ ist keine Zahl.',
  overflowWhy:
    "Der Faktor $e^{m-m'}$ ist höchstens 1. Auf dem Papier ist $e^{m} / e^{m'}$ dieselbe Zahl, aber $e^{100}$ ist für eine 32-Bit-Gleitkommazahl zu groß. Schalte den Faktor um, addiere 100 zu jeder Zahl und sieh zu.",
  showOverflow: 'Den Überlauf auf der Maschine zeigen',
  showOverflowEarly: 'Den Überlauf auf der Maschine zeigen (mit einem Programm für Aufgabe 5)',
  counts: 'Was ein Register spart',
  countsWhy:
    'Wir haben beide Programme ausgeführt und gezählt. Das Online-Programm rechnet mehr pro Zahl, liest aber jede Zahl einmal weniger. Es gewinnt, weil der Speicher das Langsame ist.',
  countsChart: reads =>
    `DRAM-Lesezugriffe in Abhängigkeit von n: ${reads.join(' für den sicheren Softmax, ')} für den Online-Softmax`,
  passes: 'Durchgänge durch x',
  reads: 'DRAM-Lesezugriffe',
  writes: 'DRAM-Schreibzugriffe',
  operations: 'Operationen',
  welford: 'Der Welford-Algorithmus',
  nothingNew: 'Nichts Neues unter der Sonne?',
  nothingNewAnswer: [
    'Ein mitgeführter Zustand wird korrigiert, sobald sich sein Bezugspunkt verschiebt. Die Idee kommt aus der Statistik, die Sorge um den Überlauf aus der Numerik, der einzige Durchgang aus der Algorithmik und der Grund für die Mühe aus der Rechnerarchitektur. Jedes Fach hat ein Stück davon, und nur wenige Vorlesungen setzen die Stücke zusammen.',
  ],
};

import type { Text } from '../../text.ts';

export const loops: Text['loops'] = {
  intro:
    'Jede Query-Kachel muss auf jede Key-Kachel treffen. Der schnelle Speicher fasst von beiden je eine, also muss etwas immer wieder geladen werden. Liegt die Schleife über die Queries außen, sind das K und V. Liegt die Schleife über die Keys außen, sind es Q und die unfertigen Ausgaben, die außerdem zurückgeschrieben werden müssen.',
  side: 'Zwei Reihenfolgen nebeneinander',
  sideWhy:
    'Das Gitter ist die n × n-Matrix der Paare. Um das Gitter herum liegen die Kacheln im langsamen Speicher. Blaue Kacheln werden geladen, orange gespeichert, violette bleiben im schnellen Speicher. Alle Ausgaben beginnen als Nullen im langsamen Speicher, also zählt auch ihr erstes Laden. Ein GPU-Kernel beginnt stattdessen mit Nullen in Registern und spart diese n Ladevorgänge.',
  tiles: 'Kacheln (n)',
  slots: 'Ausgabeplätze im schnellen Speicher',
  orders: {
    'inner-product': 'Queries außen: inneres Produkt, FlashAttention-2',
    'outer-product': 'Keys außen: äußeres Produkt, FlashAttention-1',
  },
  grid: (met, all, now) =>
    `${met} von ${all} Kachelpaaren ${met === 1 ? 'ist' : 'sind'} sich begegnet${now ? `; jetzt trifft Query-Kachel ${now.i} auf Key-Kachel ${now.j}` : ''}`,
  moved: 'Bewegte Kacheln',
  soFar: 'bisher',
  inAll: 'insgesamt',
  together: 'Summe',
  traffic: {
    loadsQ: 'Q laden',
    loadsK: 'K laden',
    loadsV: 'V laden',
    loadsO: 'O laden',
    storesO: 'O speichern',
  },
  outputStays:
    'Eine Ausgabe bleibt im schnellen Speicher, bis ihre Zeile fertig ist: einmal geladen, einmal gespeichert.',
  everyVisit: 'Jeder Besuch lädt eine unfertige Ausgabe und speichert sie wieder.',
  someStay: (slots, n) =>
    `${slots} von ${n} Ausgaben ${slots === 1 ? 'bleibt im schnellen Speicher und' : 'bleiben im schnellen Speicher; jede'} spart ${n - 1}-mal Laden und ${n - 1}-mal Speichern.`,
  whyNotAll: 'Warum nicht alle Ausgaben behalten?',
  whyNotAllAnswer: [
    'Der schnelle Speicher ist knapp: Ein Platz, an dem eine Ausgabe liegt, kann keine Keys aufnehmen. Bleiben alle n Ausgaben, wird nur so oft gespeichert wie in der anderen Reihenfolge, aber der schnelle Speicher muss mit der Sequenz wachsen. Es ist wieder die Wahl zwischen drei und sechs Registern aus Kapitel 1, mit Zwischenstufen.',
  ],
  whyTwo: 'Wer tut was zur gleichen Zeit?',
  whyTwoAnswer: [
    'Eine GPU bearbeitet viele Kacheln gleichzeitig. Liegen die Queries außen, hat jede Workgroup ihre eigene Query-Kachel und wartet nie auf eine andere Workgroup. Deshalb liegen sie bei FlashAttention-2 und in dieser Bibliothek außen. Liegen die Keys außen, müssten Workgroups mit verschiedenen Keys zu denselben Ausgaben addieren.',
  ],
  roofline: 'Rechenoperationen pro Byte',
  rooflineWhy:
    'Ein Gerät erreicht seine Spitzenleistung nur, wenn es jedes geladene Byte oft genug verwendet. Unter der Schräge begrenzt der Speicher, unter dem flachen Dach die Rechenleistung.',
  flopPerByte: 'FLOP pro Byte',
  limitedBy: 'Begrenzt durch',
  limits: { memory: 'Speicher', arithmetic: 'Rechenleistung' },
  schedules: {
    naive: 'S und P gespeichert',
    'outer-product': 'Keys außen',
    'inner-product': 'Queries außen',
  },
  rooflineChart: points => `Roofline. ${points.join('; ')}`,
  laptop: 'Ein Laptop, ungefähr',
  arithmetic: 'Rechenleistung, TFLOP/s',
  memory: 'Speicherbandbreite, GB/s',
  rowsPerTile: 'Zeilen pro Kachel',
  rooflineNote: (sequence, headSize) =>
    `${sequence} Queries und Keys, Kopfgröße ${headSize}, 16-Bit-Zahlen. Caches sind nicht berücksichtigt. Größere Kacheln verwenden jedes geladene Byte öfter.`,
};

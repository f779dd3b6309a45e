import type { Text } from '../../text.ts';

export const loops: Text['loops'] = {
  intro:
    'Jede Kachel Queries muss jede Kachel Keys treffen. Im schnellen Speicher liegt je eine, also wird etwas immer wieder geladen: Liegen die Queries außen, sind es K und V; liegen die Keys außen, sind es Q und die unfertigen Ergebnisse, die auch zurückgeschrieben werden müssen.',
  side: 'Zwei Reihenfolgen nebeneinander',
  sideWhy:
    'Das Gitter ist die n × n-Matrix der Paare; darum liegen die Kacheln im langsamen Speicher. Blau wird geladen, Orange gespeichert, Violett bleibt im schnellen Speicher.',
  tiles: 'Kacheln (n)',
  slots: 'Ergebnisplätze im schnellen Speicher',
  orders: {
    'inner-product': 'Queries außen: inneres Produkt, FlashAttention-2',
    'outer-product': 'Keys außen: äußeres Produkt, FlashAttention-1',
  },
  grid: (met, all, now) =>
    `${met} von ${all} Kachelpaaren sind sich begegnet${now ? `; jetzt trifft Querykachel ${now.i} Keykachel ${now.j}` : ''}`,
  moved: 'Bewegte Kacheln',
  soFar: 'bisher',
  inAll: 'gesamt',
  together: 'Zusammen',
  traffic: { loadsQ: 'Q laden', loadsKv: 'K, V laden', loadsO: 'O laden', storesO: 'O speichern' },
  outputStays: 'Ein Ergebnis bleibt nah, bis seine Zeile fertig ist: einmal geladen, einmal gespeichert.',
  everyVisit: 'Jede Begegnung lädt ein unfertiges Ergebnis und speichert es wieder.',
  someStay: (slots, n) =>
    `${slots} von ${n} Ergebnissen bleiben nah; jedes spart ${n - 1}-mal Laden und ${n - 1}-mal Speichern.`,
  whyNotAll: 'Warum nicht alle Ergebnisse behalten?',
  whyNotAllAnswer: [
    'Der schnelle Speicher ist geteilt: Wo Ergebnisse liegen, liegen keine Keys. Bleiben alle n, wird so oft gespeichert wie in der anderen Reihenfolge, und der schnelle Speicher wächst mit der Sequenz. Es ist die Wahl zwischen drei und sechs Registern aus Kapitel 1, nur in vielen Stufen.',
  ],
  whyTwo: 'Wer tut was zur selben Zeit?',
  whyTwoAnswer: [
    'Eine GPU bearbeitet viele Kacheln zugleich. Liegen die Queries außen, hat jede Arbeitsgruppe ihre eigene Querykachel und wartet auf niemanden: Deshalb wählen FlashAttention-2 und diese Bibliothek diese Reihenfolge. Liegen die Keys außen, müssten Gruppen mit verschiedenen Keys zu denselben Ergebnissen addieren.',
  ],
  roofline: 'Rechnen je Byte',
  rooflineWhy:
    'Ein Gerät rechnet nur dann so schnell, wie es kann, wenn jedes geladene Byte oft genug benutzt wird. Unter der Schräge begrenzt der Speicher, unter dem flachen Dach das Rechnen.',
  flopPerByte: 'FLOP je Byte',
  limitedBy: 'Begrenzt durch',
  limits: { memory: 'Speicher', arithmetic: 'Rechnen' },
  schedules: {
    naive: 'S und P gespeichert',
    'outer-product': 'Keys außen',
    'inner-product': 'Queries außen',
  },
  rooflineChart: points => `Roofline. ${points.join('; ')}`,
  laptop: 'Ein Laptop, ungefähr',
  arithmetic: 'Rechnen, TFLOP/s',
  memory: 'Speicher, GB/s',
  rowsPerTile: 'Zeilen je Kachel',
  rooflineNote: (sequence, headSize) =>
    `${sequence} Queries und Keys, Kopfgröße ${headSize}, 16-Bit-Zahlen; ohne Caches. Größere Kacheln benutzen jedes geladene Byte öfter.`,
};

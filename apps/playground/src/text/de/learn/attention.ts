import type { Text } from '../../text.ts';

export const attention: Text['attention'] = {
  intro:
    'Attention braucht die Softmaxgewichte nur, um Wertvektoren zu mitteln. Also müssen sie nicht bleiben: Jedes entsteht, geht in einen laufenden Zähler ein und wird vergessen.',
  threeThings:
    "Drei Dinge bleiben je Query: das Maximum $m$ bisher, der Nenner $d$ und der Zähler, ein Vektor. Hebt ein neuer Key das Maximum auf $m'$, werden beide Summen mit $e^{m-m'}$ multipliziert. Geteilt wird zuletzt: ein Durchgang.",
  stream: 'Eine Query, alle ihre Keys',
  streamWhy:
    'Die Query ist das letzte Wort unseres Satzes, „tired“: Sie fragt, wer. Geh durch ihre zwölf Keys, einzeln oder kachelweise. Steigt das Maximum, schrumpft das Gewicht von allem, was vorher kam, um denselben Faktor.',
  keysPerTile: 'Keys je Kachel',
  position: 'Stelle',
  scores: 'Scores',
  weights: 'Gewichte',
  values: 'Werte',
  figure: (keys, seen, m) =>
    `Scores, Gewichte und Wertvektoren von ${keys} Keys; ${seen} sind gesehen, ihr Maximum ist ${m ?? 'noch nicht bekannt'}`,
  maximum: 'Maximum m',
  factorOfKept: 'Faktor für das Bisherige',
  denominator: 'Nenner d',
  numerator: 'Zähler',
  output: 'o = Zähler / d',
  numbersKept: 'Behaltene Zahlen',
  kept: (here, naive) => `${here}; auf naive Art ${naive}`,
  allSeen: 'Alle Keys sind gesehen: o ist das Ergebnis der Attention. Es ist für jede Kachelgröße dasselbe.',
  rightSoFar: 'In jedem Augenblick ist o richtig für die Keys, die gesehen sind.',
  merge: 'Jedes Element kann eine Kachel sein',
  mergeWhy:
    'Zwei Zustände verschmelzen nach derselben Regel, ob jeder für einen Key steht oder für tausend. Die Verschmelzung ist assoziativ; Kacheln lassen sich also irgendwo berechnen, in beliebiger Folge, und später zusammensetzen.',
  keys: (first, last) => `Keys ${first} bis ${last}`,
  oneLeft: 'Ein Zustand ist übrig.',
  chooseTile: 'Wähle eine Kachel, dann die, mit der sie verschmelzen soll.',
  withWhich: 'Mit welcher?',
  merged: (merged, whole) => `num / d = ${merged}, und auf einmal berechnet ${whole}.`,
  startAgain: 'Von vorn',
  memory: 'P gibt es nie',
  naive: 'Scores und Wahrscheinlichkeiten, je n × n',
  streaming: 'Eine Kachel Scores und ihr laufender Zustand',
  queriesAndKeys: 'Queries und Keys',
  timesLess: times => `Auf naive Art bleibt das ${times}-Fache.`,
  memoryNote: (headSize, tile) =>
    `Logarithmische Balken; ein Kopf in 32-Bit-Zahlen, Kopfgröße ${headSize}, Kacheln von ${tile} × ${tile}. Die Eingaben zählen nicht.`,
  elimination: 'Das allgemeine Muster: Was sofort verbraucht wird, muss es nicht geben',
  eliminationAnswer: [
    'P ist groß, entsteht in einer Operation und wird in der nächsten verbraucht, in einer Summe. Wo immer das so ist, lassen sich beide verschmelzen: ein Element machen, benutzen, vergessen.',
    'Compiler kennen es als *Schleifenfusion*, funktionale Sprachen als *Deforestation*, GPU-Programmierer als *Kernel-Fusion*. Die Bedingung ist immer dieselbe: Das Zwischenergebnis kommt nur in einer Kontraktion vor.',
  ],
  onGpu: 'Von der Spielzeugmaschine zur GPU',
  onGpuAnswer:
    'Mit Kacheln statt Zahlen *ist* die Spielzeugmaschine der Algorithmus, nur in anderer Körnung. Geschnitten wird entlang der Keys: Kacheln von K und V strömen an einer Kachel Queries vorbei, die bleibt.',
  toy: 'Spielzeugmaschine',
  correspondence: [
    ['Register', 'Shared Memory und Register'],
    ['DRAM', 'Gerätespeicher (HBM, GDDR)'],
    ['LOAD, STORE', 'Transport zwischen beiden'],
    ['Multiplizierer', 'Matrixeinheit (Tensor Core)'],
  ],
};

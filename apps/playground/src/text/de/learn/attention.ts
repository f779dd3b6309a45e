import type { Text } from '../../text.ts';

export const attention: Text['attention'] = {
  intro:
    'Attention braucht die Softmax-Gewichte nur für eines: um die Value-Vektoren zu mitteln. Also muss sie die Gewichte nicht aufheben: Jedes wird berechnet, mit seinem Value-Vektor multipliziert, zu einem laufenden Zähler addiert und vergessen.',
  threeThings:
    "Für jede Query merken wir uns drei Dinge: das bisherige Maximum $m$, den Nenner $d$ und den Zähler, der ein Vektor ist. Hebt ein neuer Key das Maximum auf $m'$, werden beide Summen mit $e^{m-m'}$ multipliziert. Geteilt wird erst am Schluss, also genügt ein Durchgang.",
  stream: 'Eine Query, alle ihre Keys',
  streamWhy:
    'Die Query ist das letzte Wort unseres Satzes: „tired“ fragt, wer müde ist. Geh die zwölf Keys durch, einzeln oder kachelweise. Steigt das Maximum, schrumpft alles bisher Gesehene um denselben Faktor.',
  keysPerTile: 'Keys pro Kachel',
  position: 'Position',
  scores: 'Scores',
  weights: 'Gewichte',
  values: 'Values',
  figure: (keys, seen, m) =>
    `Scores, Gewichte und Value-Vektoren von ${keys} Keys; ${seen} ${seen === 1 ? 'ist' : 'sind'} gesehen, ihr Maximum ist ${m ?? 'noch nicht bekannt'}`,
  maximum: 'Maximum m',
  factorOfKept: 'Korrekturfaktor',
  denominator: 'Nenner d',
  numerator: 'Zähler',
  output: 'o = Zähler / d',
  numbersKept: 'Gemerkte Zahlen',
  kept: (here, naive) => `${here}; naiv ${naive}`,
  allSeen:
    'Alle Keys sind gesehen, und o ist die Ausgabe der Attention. Sie ist für jede Kachelgröße dieselbe.',
  rightSoFar: 'In jedem Moment stimmt o für die bisher gesehenen Keys.',
  merge: 'Jedes Element kann eine Kachel sein',
  mergeWhy:
    'Zwei Zustände verschmelzen immer nach derselben Regel, ob jeder für einen Key steht oder für tausend. Die Verschmelzung ist assoziativ und kommutativ: Kacheln lassen sich also überall und in beliebiger Reihenfolge berechnen und später zusammensetzen.',
  keys: (first, last) => `Keys ${first} bis ${last}`,
  oneLeft: 'Ein Zustand ist übrig.',
  chooseTile: 'Wähle eine Kachel, dann die, mit der sie verschmelzen soll.',
  withWhich: 'Mit welcher?',
  merged: (merged, whole) => `num / d = ${merged}; in einem Zug berechnet: ${whole}.`,
  startAgain: 'Alle wieder trennen',
  memory: 'P existiert nie',
  naive: 'Scores und Wahrscheinlichkeiten, je n × n',
  streaming: 'Eine Kachel Scores und ihr laufender Zustand',
  queriesAndKeys: 'Queries und Keys',
  timesLess: times => `Naiv braucht man das ${times}-Fache an Speicher.`,
  memoryNote: (headSize, tile) =>
    `Die Balken sind logarithmisch. Ein Kopf in 32-Bit-Gleitkommazahlen, Kopfgröße ${headSize}, Kacheln von ${tile} × ${tile}. Die Eingaben sind nicht mitgezählt.`,
  elimination: 'Das allgemeine Muster: Was sofort verbraucht wird, muss man nicht speichern',
  eliminationAnswer: [
    'P ist groß. Eine Operation erzeugt P, und die nächste verbraucht P in einer Summe. Wo immer das so ist, lassen sich die beiden Operationen fusionieren: ein Element berechnen, verwenden, vergessen.',
    'Im Compilerbau heißt das *Schleifenfusion*, in funktionalen Sprachen *Deforestation* und in der GPU-Programmierung *Kernel-Fusion*. Die Bedingung ist immer dieselbe: Das Zwischenergebnis kommt nur in einer Kontraktion vor.',
  ],
  onGpu: 'Von der Spielzeugmaschine zur GPU',
  onGpuAnswer:
    'Setz Kacheln an die Stelle der Zahlen, und die Spielzeugmaschine *ist* der Algorithmus. Geschnitten wird entlang der Keys: Kacheln von K und V strömen an einer Query-Kachel vorbei, die bleibt.',
  toy: 'Spielzeugmaschine',
  correspondence: [
    ['Registersatz', 'Shared Memory und Register'],
    ['DRAM', 'Gerätespeicher (HBM, GDDR)'],
    ['LOAD, STORE', 'Datentransport zwischen beiden'],
    ['Multiplizierer', 'Matrixeinheit (Tensor Core)'],
  ],
};

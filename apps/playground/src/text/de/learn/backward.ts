import type { ChapterTexts } from '../../text.ts';

export const backward: ChapterTexts['backward'] = {
  intro: [
    'Der Vorwärtsdurchlauf hat P weggeworfen. Der Rückwärtsdurchlauf braucht P wieder, dazu zwei weitere, ebenso große Matrizen: dP und dS. Auch von ihnen wird keine gespeichert. Eine Zahl pro Zeile, $\\mathrm{lse} = m + \\ln \\ell$ mit dem Maximum $m$ und dem Nenner $\\ell$ der Zeile, bringt jedes Gewicht bei Bedarf zurück: $P_{ij} = e^{S_{ij} - \\mathrm{lse}_i}$. (In Kapitel 3 hieß der Nenner $d$; von hier an ist $d$ die Zahl der Kanäle.)',
    'Etwas noch einmal zu berechnen, statt es aufzuheben, heißt *Rekomputation* oder Activation Checkpointing. Hier ist das billig, weil die Maxima und Nenner schon bekannt sind.',
  ],
  derivation: 'Die Herleitung',
  inIndices: 'In Indizes',
  stepBack: 'Einen Schritt zurück',
  nextStep: 'Nächster Schritt',
  steps: {
    forward: {
      title: 'Der Vorwärtsdurchlauf, von hinten aufgerollt',
      why: 'Gegeben ist dO, der Gradient des Verlusts nach O. Jeder Schritt geht durch eine dieser Gleichungen rückwärts. Alle d… sind Gradienten des Verlusts: dX hat die Form von X.',
    },
    indices: {
      title: 'Die Sprache: Indizes',
      why: 'Über einen Index, der oben und unten steht, wird summiert, wie bei einsum. Die Ableitung einer Matrix nach sich selbst ist 1, wo Zeile und Spalte übereinstimmen, sonst 0: zwei Kronecker-Deltas. Ein Index im Nenner wechselt die Seite: Ein oberer zählt dort als unterer und umgekehrt.',
    },
    product: {
      title: 'Die Ableitung eines Produkts',
      why: 'Zeile $i$ von C hängt nur von Zeile $i$ von A ab: Das sagt das Delta. Ausgeschrieben hat die Ableitung einer $m \\times n$-Matrix nach einer $p \\times q$-Matrix vier Indizes und $m \\cdot n \\cdot p \\cdot q$ Zahlen.',
    },
    chain: {
      title: 'Die Kettenregel: aus vier Indizes werden zwei',
      why: 'Niemand legt das Feld mit vier Indizes an. Es wird sofort mit dem ankommenden Gradienten kontrahiert, und es bleibt eine Matrix übrig: ein Vektor-Jacobi-Produkt. Das ist derselbe Trick wie bei P. Ein Produkt reicht seinen Gradienten an jeden Faktor weiter, multipliziert mit der Transponierten des anderen Faktors.',
    },
    dV: {
      title: 'Durch O = P V, zu V',
      why: 'Noch einmal die Ableitung eines Produkts, für den zweiten Faktor.',
    },
    dP: {
      title: 'Durch O = P V, zu P',
      why: 'Zeile $i$ von dP ist Zeile $i$ von dO mal Vᵀ: Die Zeilen sind voneinander unabhängig.',
    },
    softmax: {
      title: 'Durch den Softmax',
      why: 'Steigt ein Score, sinken alle anderen Gewichte seiner Zeile, weil ihre Summe eins ist: daher die Summe über die Zeile.',
    },
    D: {
      title: 'Die Summe ist schon bekannt',
      why: 'Vertausche die Summen: Die Zeile von P mal V ist die Zeile von O. D braucht also weder P noch dP, nur dO und O.',
    },
    dQdK: {
      title: 'Durch S = Q Kᵀ',
      why: 'Wieder ein Produkt. Sind die Scores skaliert, werden beide Gradienten mit dem Skalierungsfaktor multipliziert.',
    },
    columns: {
      title: 'Jedes Element, jederzeit',
      why: 'Der Softmax arbeitet zeilenweise. Aber eine Spalte muss von Zeile $i$ nur zwei Zahlen kennen, lse und D, und beide sind gespeichert. Also lassen sich P und dS auch Spalte für Spalte berechnen.',
    },
    rankOne: {
      title: 'Rang-1-Updates',
      why: 'Wer zeilenweise vorgeht, schließt mit jeder Zeile von dS eine Zeile von dQ ab. dK und dV erhalten ein Rang-1-Update: Jede ihrer Zeilen ändert sich ein wenig. Eine fertige Zeile von dQ kann sofort in dX und in den Gewichtsgradienten eingehen und dann vergessen werden.',
    },
    dX: {
      title: 'Durch die Projektionen, zu X',
      why: 'Q, K und V entstehen alle aus demselben X, also ist der Gradient von X eine Summe aus drei Termen. Ein Attention-Kernel hört vor diesem Schritt auf und überlässt ihn gewöhnlichen Matrixprodukten.',
    },
    dW: {
      title: 'Durch die Projektionen, zu den Gewichten',
      why: 'Diese Gradienten braucht der Optimierer. Nichts hier ist so groß wie P.',
    },
  },
  numbers: 'Alles in Zahlen',
  numbersWhy:
    'Vier Wörter mit je zwei Kanälen. Zeig auf ein Element oder wandere mit den Pfeiltasten. Du siehst die Terme seiner Summe, und die Zahlen, aus denen es entsteht, sind umrandet. Ein Klick oder die Eingabetaste wählt das Element.',
  given: 'Dieses Element ist gegeben, nicht berechnet.',
  check: 'Stimmt der Gradient?',
  checkWhy:
    'Klick oben auf ein Element von Q, K oder V oder von seinem Gradienten. Verändere die Zahl, und alles ändert sich mit. Der Gradient sagt, wie schnell sich der Verlust ändert. Dasselbe sagt der Differenzenquotient, der von den Formeln oben nichts weiß. Je kleiner die Schrittweite h, desto besser stimmen die beiden überein, bis unterhalb von etwa $10^{-5}$ die Rundung der beiden Verluste überwiegt. Bei V ist es anders: Der Verlust ist in V linear, also ergibt jede Schrittweite den Gradienten, und kleine bringen nur Rundungsfehler.',
  move: name => `${name} verändern um`,
  stepSize: 'Schrittweite h',
  apart: difference => `Quotient und Formel unterscheiden sich um ${difference}.`,
  twoD: 'D, auf beide Arten',
  readsFor: n => `Gelesene Zahlen für alle ${n} Zeilen`,
  readsFormula: 'Bei n Zeilen in Kacheln zu T',
  readsNote:
    'Die Summe über dO und O liest zwei kurze Zeilen pro Query. Die Summe über P und dP braucht K und V noch einmal für jede Kachel aus T Queries; hier ist T = 1. Bei 4.096 Zeilen und Kacheln zu 64 ist das 64-mal so viel.',
  byRowsOrColumns: 'Zeilen oder Spalten',
  walkWhy:
    'Der Softmax arbeitet zeilenweise, also scheint auch dS Zeilen zu verlangen. Sind aber lse und D jeder Zeile bekannt, lässt sich jedes Element jederzeit berechnen.',
  walk: 'Reihenfolge',
  walks: { rows: 'Zeile für Zeile', columns: 'Spalte für Spalte' },
  walkFigure: (at, n, walk) =>
    `${at} von ${n} ${walk === 'rows' ? 'Zeilen' : 'Spalten'} von dS ${at === 1 ? 'ist' : 'sind'} berechnet`,
  styles: { inner: 'inneres Produkt', outer: 'äußeres Produkt' },
  walkNotes: {
    rows: 'Ein inneres Produkt, zwei äußere. Jede Zeile von dS schließt eine Zeile von dQ ab; dK und dV ändern sich bei jedem Schritt überall, müssen also ganz vorgehalten werden.',
    columns:
      'Zwei innere Produkte, ein äußeres: die bessere Bilanz. Jede Spalte schließt eine Zeile von dK und eine von dV ab; nur dQ bleibt bis zum Ende unfertig.',
  },
  termsNote:
    'In einem Gradienten bedeutet 3/8, dass drei der acht Summanden jeder Summe addiert sind, und ✓, dass die Summe vollständig ist.',
  worth: 'Was es bringt, D vorher zu kennen',
  worthWhy:
    'dS braucht das D seiner Zeile. Wird D aus P und dP berechnet, ist es erst nach der ganzen Zeile bekannt, und K und V müssen ein zweites Mal geladen werden. Wird D vorab aus dO und O berechnet, genügt es, sie einmal zu laden. Das sind doppelt so viele nützliche Rechenoperationen pro Byte: Was ein zweites Mal berechnet wird, zählt nicht.',
  whenD: 'D',
  knownD: 'D = rowsum(dO ∘ O), vorab',
  lateD: 'D = rowsum(P ∘ dP), unterwegs',
  blocks: 'Blöcke (n)',
  loadsFigure: (done, all) =>
    `${done} von ${all} Ladevorgängen für Blöcke von K und V ${done === 1 ? 'ist' : 'sind'} erledigt; jeder Block zeigt, wie oft er geladen wurde`,
  kLoads: 'K-Blöcke geladen',
  vLoads: 'V-Blöcke geladen',
  productsPerLoad: 'Produkte pro Ladevorgang, ohne Wiederholungen',
  purposes: {
    rows: 'Dieser Ladevorgang liefert nur einen Beitrag zu D; der Block wird noch einmal gebraucht.',
    gradients: 'Dieser Ladevorgang liefert alles: P, dP, dS und ihre Beiträge zu dQ, dK und dV.',
  },
  notBegun: 'Noch ist nichts geladen.',
  blockSteps: {
    known: [
      'Einen Block von K und V laden.',
      'P noch einmal, aus Q, K und lse.',
      'dP aus dO und V.',
      'dS aus P, dP und D, ohne zu warten.',
      'Zu dQ addieren; K ist noch da.',
      'Zu dK und dV addieren.',
      'Den Block vergessen.',
    ],
    late: [
      'Für die ganze Zeile: K und V laden, P und dP berechnen, zu D addieren, vergessen.',
      'Dann noch einmal: K und V laden, P und dP ein zweites Mal berechnen.',
      'dS, weil D jetzt vollständig ist.',
      'Zu dQ, dK und dV addieren.',
      'Den Block vergessen.',
    ],
  },
  kernelsTitle: 'Was die Bibliothek ausführt',
  kernelsWhy:
    'Zeilenweise wie spaltenweise bleibt etwas unfertig, und mehrere Workgroups müssten ihre Anteile an dieselben Stellen im Speicher addieren. Die Bibliothek geht stattdessen zweimal durch, jedes Mal in der Richtung, die fertigstellt, was sie berechnet. Sie braucht keine atomaren Operationen, und jeder Lauf liefert dieselben Bits.',
  mask: 'Maske',
  noMask: 'Keine Maske',
  causal: 'Kausal',
  kernels: {
    dkdv: {
      title: 'Zuerst dK und dV: eine Workgroup pro Key-Kachel',
      about:
        'Jede Spalte ist eine Workgroup. Sie geht die Query-Kacheln hinab, die ihre Keys sehen, und stellt ihre Zeilen von dK und dV fertig.',
    },
    dq: {
      title: 'Dann dQ: eine Workgroup pro Query-Kachel',
      about:
        'Jede Zeile ist eine Workgroup. Sie geht die Key-Kacheln entlang, die sie sieht, und stellt ihre Zeilen von dQ fertig.',
    },
  },
  kernelFigure: (at, n) => `Jede Workgroup hat ${at} von höchstens ${n} Kacheln getroffen`,
  kernelTable: 'Kernel des Rückwärtsdurchlaufs',
  kernelColumns: ['Kernel', 'Eine Workgroup hat', 'Sie durchläuft', 'und berechnet fertig'],
  kernelRows: [
    [
      'delta',
      'einige Queries',
      'deren Kanäle',
      'D (abzüglich des Gradienten von lse) und lse, nebeneinander',
    ],
    ['dK, dV', 'eine Key-Kachel', 'die Query-Kacheln, die sie sehen', 'dK = dSᵀ·Q und dV = Pᵀ·dO'],
    ['dQ', 'eine Query-Kachel', 'die Key-Kacheln, die sie sieht', 'dQ = dS·K'],
  ],
  sevenProducts:
    'Beide Kernel berechnen S und dP. Das macht sieben Matrixprodukte, wo fünf genügen würden. Dafür wächst nichts, was gespeichert wird, mit dem Quadrat der Sequenzlänge.',
  further: 'Könnten dQ, dK und dV denselben Weg gehen wie P?',
  furtherAnswer: [
    'Auch sie werden in Kontraktionen verbraucht. Multipliziert man die Projektionsgewichte in die rechten Faktoren hinein, die nur n × d groß sind, lässt sich dX aufsummieren, während dS vorbeiströmt:',
    'Aber auch die Gewichtsgradienten brauchen dQ, dK und dV, und dafür haben Frameworks ihre eigenen linearen Schichten. Flash-Attention hört hier auf.',
  ],
};

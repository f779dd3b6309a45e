import type { ChapterTexts } from '../../text.ts';

export const backward: ChapterTexts['backward'] = {
  intro: [
    'Vorwärts wurde P weggeworfen. Rückwärts wird es wieder gebraucht, und zwei weitere, ebenso große Matrizen: dP und dS. Auch von ihnen wird keine gespeichert. Eine Zahl je Zeile, $\\mathrm{lse} = m + \\ln d$, holt jedes Gewicht bei Bedarf zurück: $P_{ij} = e^{S_{ij} - \\mathrm{lse}_i}$.',
    'Etwas noch einmal zu berechnen, statt es zu behalten, heißt *Activation Checkpointing*. Hier ist es billig: Maxima und Nenner sind vom ersten Mal bekannt.',
  ],
  derivation: 'Die Herleitung',
  inIndices: 'In Indizes',
  stepBack: 'Einen Schritt zurück',
  nextStep: 'Nächster Schritt',
  steps: {
    forward: {
      title: 'Vorwärts, vom Ende her aufzulösen',
      why: 'Gegeben ist dO, der Gradient des Verlusts nach O. Jeder Schritt geht durch eine dieser Gleichungen zurück. Alle d… sind Gradienten des Verlusts: dX hat die Form von X.',
    },
    indices: {
      title: 'Die Sprache: Indizes',
      why: 'Über einen Index, der oben und unten steht, wird summiert, wie in einsum. Die Ableitung einer Matrix nach sich selbst ist 1, wo Zeile und Spalte übereinstimmen, sonst 0: zwei Kronecker-Deltas. Ein Index im Nenner wechselt die Seite, kontrahiert also mit einem, der dort steht, wo er vorher stand.',
    },
    product: {
      title: 'Die Ableitung eines Produkts',
      why: 'Zeile $i$ von C hängt nur von Zeile $i$ von A ab: Das sagt das Delta. Ausgeschrieben hat dieses Objekt vier Indizes, $m \\cdot n \\cdot p \\cdot q$ Zahlen.',
    },
    chain: {
      title: 'Die Kettenregel: aus vier Indizes werden zwei',
      why: 'Niemand baut das Objekt mit vier Indizes. Es wird sofort mit dem Gradienten kontrahiert, der von hinten kommt, und eine Matrix bleibt übrig (ein Vektor-Jacobi-Produkt): derselbe Trick wie bei P. Ein Produkt reicht seinen Gradienten an jeden Faktor weiter, multipliziert mit dem anderen Faktor, transponiert.',
    },
    dV: {
      title: 'Durch O = P V, zu V',
      why: 'Die Regel des Produkts, für seinen zweiten Faktor.',
    },
    dP: {
      title: 'Durch O = P V, zu P',
      why: 'Zeile $i$ von dP ist Zeile $i$ von dO mal Vᵀ: Die Zeilen brauchen einander nicht.',
    },
    softmax: {
      title: 'Durch das Softmax',
      why: 'Steigt ein Score, sinken alle anderen Gewichte seiner Zeile, denn ihre Summe ist eins: daher die Summe über die Zeile.',
    },
    D: {
      title: 'Die Summe ist schon bekannt',
      why: 'Vertausche die Summen: Die Zeile von P mal V ist die Zeile von O. D braucht also weder P noch dP, nur dO und O.',
    },
    dQdK: {
      title: 'Durch S = Q Kᵀ',
      why: 'Wieder ein Produkt. Sind die Scores skaliert, werden beide mit dem Faktor multipliziert.',
    },
    columns: {
      title: 'Jedes Element, jederzeit',
      why: 'Softmax geht zeilenweise, aber alles, was eine Spalte von Zeile $i$ wissen muss, sind die zwei Zahlen lse und D, und die sind gespeichert. Also können P und dS auch Spalte für Spalte entstehen.',
    },
    rankOne: {
      title: 'Rang-1-Änderungen',
      why: 'Zeilenweise beendet eine Zeile von dS eine Zeile von dQ, während dK und dV eine Rang-1-Änderung bekommen: Jede ihrer Zeilen ändert sich ein wenig. Eine fertige Zeile von dQ kann dX und dem Gewichtsgradienten zugleich dienen und dann vergessen werden.',
    },
    dX: {
      title: 'Durch die Projektionen, zu X',
      why: 'Q, K und V entstehen alle aus demselben X, also ist sein Gradient eine Summe aus dreien. Ein Attention-Kernel hört vorher auf und überlässt das gewöhnlichen Produkten.',
    },
    dW: {
      title: 'Durch die Projektionen, zu den Gewichten',
      why: 'Danach hat der Optimierer gefragt. Nichts hier ist so groß wie P.',
    },
  },
  numbers: 'Alles in Zahlen',
  numbersWhy:
    'Vier Wörter mit je zwei Kanälen. Zeig auf ein Element oder geh mit den Pfeiltasten: Die Glieder seiner Summe stehen ausgeschrieben da, und die Zahlen, aus denen es entsteht, sind umrandet.',
  given: 'Dieses ist gegeben, nicht berechnet.',
  check: 'Stimmt der Gradient?',
  checkWhy:
    'Wähle ein Element von Q, K oder V oder von seinem Gradienten. Bewege die Zahl und sieh, wie alles folgt. Der Gradient sagt, wie schnell sich der Verlust ändert; der Quotient sagt es auch, und er weiß nichts von den Formeln oben. Je kleiner h, desto besser stimmen sie überein.',
  move: name => `${name} bewegen um`,
  stepSize: 'Schritt h',
  apart: difference => `Quotient und Formel unterscheiden sich um ${difference}.`,
  twoD: 'D, auf beide Arten',
  readsFor: n => `Gelesene Zahlen für alle ${n} Zeilen`,
  readsFormula: 'Mit n Zeilen, in Kacheln zu T',
  readsNote:
    'Die Summe über dO und O liest zwei kurze Zeilen je Query. Die Summe über P und dP braucht K und V noch einmal für jede Kachel aus T Queries; hier ist T = 1. Mit 4.096 Zeilen und Kacheln zu 64 ist das 64-mal so viel.',
  byRowsOrColumns: 'Zeilen oder Spalten',
  walkWhy:
    'Softmax geht zeilenweise, also scheint dS Zeilen zu wollen. Aber sind lse und D je Zeile bekannt, kann jedes Element jederzeit entstehen.',
  walk: 'Weg',
  walks: { rows: 'Zeile für Zeile', columns: 'Spalte für Spalte' },
  walkFigure: (at, n, walk) =>
    `${at} von ${n} ${walk === 'rows' ? 'Zeilen' : 'Spalten'} von dS sind berechnet`,
  styles: { inner: 'inneres Produkt', outer: 'äußeres Produkt' },
  walkNotes: {
    rows: 'Ein inneres, zwei äußere. Jede Zeile von dS beendet eine Zeile von dQ; dK und dV ändern sich bei jedem Schritt überall, müssen also ganz da sein.',
    columns:
      'Zwei innere, ein äußeres: besser verteilt. Jede Spalte beendet eine Zeile von dK und eine von dV; nur dQ bleibt bis zum Ende unfertig.',
  },
  termsNote:
    'In einem Gradienten heißt 3/8: Von jeder Summe sind drei der acht Summanden addiert; ✓ heißt: Sie ist vollständig.',
  worth: 'Was es wert ist, D vorher zu kennen',
  worthWhy:
    'dS braucht das D seiner Zeile. Aus P und dP ist D erst bekannt, wenn die ganze Zeile gesehen ist, und K und V müssen ein zweites Mal kommen. Aus dO und O vorab berechnet, genügt einmal: doppelt so viel Rechnen je Byte.',
  whenD: 'D',
  knownD: 'D = rowsum(dO ∘ O), vorab',
  lateD: 'D = rowsum(P ∘ dP), unterwegs',
  blocks: 'Blöcke (n)',
  loadsFigure: (done, all) =>
    `${done} von ${all} Ladevorgängen für Blöcke von K und V sind geschehen; jeder Block zeigt, wie oft`,
  kLoads: 'K-Blöcke geladen',
  vLoads: 'V-Blöcke geladen',
  productsPerLoad: 'Produkte je Ladevorgang',
  purposes: {
    rows: 'Dieses Laden findet nur einen Teil von D; der Block wird noch einmal gebraucht.',
    gradients: 'Dieses Laden gibt alles her: P, dP, dS und was sie zu dQ, dK und dV beitragen.',
  },
  notBegun: 'Noch ist nichts geladen.',
  blockSteps: {
    known: [
      'Einen Block K und V laden.',
      'P noch einmal, aus Q, K und lse.',
      'dP aus dO und V.',
      'dS aus P, dP und D: ohne zu warten.',
      'Zu dQ addieren; K ist noch da.',
      'Zu dK und dV addieren.',
      'Den Block vergessen.',
    ],
    late: [
      'Für die ganze Zeile: K und V laden, P und dP berechnen, zu D addieren, vergessen.',
      'Dann noch einmal: K und V laden, P und dP ein zweites Mal berechnen.',
      'dS, nun da D vollständig ist.',
      'Zu dQ, dK und dV addieren.',
      'Den Block vergessen.',
    ],
  },
  kernelsTitle: 'Was die Bibliothek ausführt',
  kernelsWhy:
    'Zeilen- und spaltenweise bleibt je etwas unfertig, das Arbeitsgruppen einander in den Speicher addieren müssten. Die Bibliothek geht stattdessen zweimal, jedes Mal so, dass fertig wird, was sie berechnet: keine atomaren Operationen, und in jedem Lauf dieselben Bits.',
  mask: 'Maske',
  noMask: 'Keine Maske',
  causal: 'Kausal',
  kernels: {
    dkdv: {
      title: 'Zuerst dK und dV: eine Arbeitsgruppe je Keykachel',
      about:
        'Jede Spalte ist eine Arbeitsgruppe. Sie geht die Querykacheln hinab, die ihre Keys sehen, und beendet ihre Zeilen von dK und dV.',
    },
    dq: {
      title: 'Dann dQ: eine Arbeitsgruppe je Querykachel',
      about:
        'Jede Zeile ist eine Arbeitsgruppe. Sie geht die Keykacheln entlang, die sie sieht, und beendet ihre Zeilen von dQ.',
    },
  },
  kernelFigure: (at, n) => `Jede Arbeitsgruppe ist ${at} von höchstens ${n} Kacheln begegnet`,
  kernelTable: 'Kernels für rückwärts',
  kernelColumns: ['Kernel', 'Eine Arbeitsgruppe hat', 'Sie geht über', 'und beendet'],
  kernelRows: [
    ['rows', 'einige Queries', 'deren Kanäle', 'D (minus den Gradienten von lse) und lse, nebeneinander'],
    ['dK, dV', 'eine Kachel Keys', 'die Querykacheln, die sie sehen', 'dK = dSᵀ·Q und dV = Pᵀ·dO'],
    ['dQ', 'eine Kachel Queries', 'die Keykacheln, die sie sieht', 'dQ = dS·K'],
  ],
  sevenProducts:
    'S und dP werden in beiden berechnet: sieben Matrixprodukte, wo fünf genügten. Nichts wird gespeichert, was mit dem Quadrat der Sequenz wächst.',
  further: 'Könnten dQ, dK und dV denselben Weg gehen wie P?',
  furtherAnswer: [
    'Auch sie werden in Kontraktionen verbraucht. Multipliziere die Projektionsgewichte in die rechten Faktoren, die nur n × d groß sind, und dX lässt sich summieren, während dS vorbeiströmt:',
    'Aber auch die Gewichtsgradienten brauchen dQ, dK und dV, und ein Framework behält seine linearen Schichten für sich. Flash-Attention hört hier auf.',
  ],
};

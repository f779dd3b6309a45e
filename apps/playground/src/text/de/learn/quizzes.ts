import type { Text } from '../../text.ts';

export const quizzes: Text['quizzes'] = {
  words: {
    check: 'Prüfen',
    right: 'Richtig.',
    wrong: 'Noch nicht.',
    several: 'Wähle alles, was zutrifft.',
    answer: 'Deine Antwort',
    show: 'Die Antwort zeigen',
    theAnswer: answer => `Die Antwort: ${answer}.`,
    quiz: 'Quiz',
  },
  'square-memory': {
    question: 'Ein Text wird doppelt so lang. Wievielmal so viele Scores gibt es dann?',
    nudge: 'Jedes Token schaut auf jedes Token. Zähl die Paare.',
    why: [
      'Viermal so viele: n Tokens ergeben n × n Scores. Zehnmal so viel Text bedeutet hundertmal so viele Scores. Von diesem Quadrat handelt der Rest dieser Seite: *Berechnen* muss man die Scores, aber niemand sagt, dass man sie *speichern* muss.',
    ],
  },
  'square-root': {
    question:
      'Queries und Keys haben d zufällige Komponenten mit Varianz 1. Was geschieht ohne den Faktor 1/√d mit den Gewichten, wenn d wächst?',
    options: [
      'Sie werden einander immer ähnlicher.',
      'Ein Gewicht nimmt fast alles.',
      'Nichts: Der Softmax achtet nur auf die Reihenfolge der Scores.',
    ],
    nudge:
      'Eine Summe aus d zufälligen Produkten hat die typische Größe √d. Was macht der Softmax mit Scores, die weit auseinanderliegen?',
    why: [
      'q·k ist eine Summe aus d zufälligen Termen: Ihre typische Größe ist √d. Liegen Scores so weit auseinander, legt der Softmax fast das ganze Gewicht auf den größten, und sein Gradient verschwindet. Teilt man durch √d, behalten die Scores für jedes d die Größe 1. Probier es mit dem Regler oben aus.',
    ],
  },
  'inner-six': {
    question:
      'Nimm sechs Register, von denen jedes den Multiplizierer speisen darf. Wie viele Takte brauchen alle vier Elemente als innere Produkte mindestens?',
    nudge:
      'Ohne vier STORE und acht Produkte geht es nicht. Wie viele LOAD bleiben, wenn keine Zahl zweimal geladen wird?',
    why: [
      'Zwanzig. Die drei zusätzlichen Register halten *Operanden*: Zeile 0 von A bleibt, während c₀₀ und c₀₁ entstehen, und dann sind beide Spalten von B für c₁₁ und c₁₀ schon da. Jede Zahl wird einmal geladen: 8 LOAD, 8 Produkte, 4 STORE. Das spart fünf LOAD.',
      'Solange nur `R0` und `R1` den Multiplizierer speisen, können drei zusätzliche Register nur Summen halten, und ein inneres Produkt hat immer nur eine Summe: Es bleibt bei 25 Takten. Stell die Verdrahtung oben um und probier es aus.',
    ],
  },
  'three-registers': {
    question: 'Warum braucht diese Maschine mindestens drei Register?',
    options: [
      'Jede Matrix braucht ein eigenes Register.',
      'Die nächsten beiden Operanden überschreiben `R0` und `R1`, also braucht die bisherige Summe ein drittes.',
      'Ein STORE belegt ein Register, bis er fertig ist.',
    ],
    nudge: 'Verfolge `R0`, `R1` und `R2` durch das zweite Produkt eines Elements.',
    why: [
      'Die beiden Operanden des Multiplizierers wechseln mit jedem Term, und `MAC` nimmt den Summanden aus einem Register, nicht aus dem DRAM. Auf neueren GPUs (NVIDIA Blackwell) hat die Matrixeinheit einen eigenen Speicher für den Akkumulator; damit genügen wieder zwei Register.',
    ],
  },
  'safe-factor': {
    question:
      'Die bisherige Summe muss vom Maximum m auf m′ reskaliert werden. Was davon ist mit 32-Bit-Gleitkommazahlen sicher?',
    options: ['exp(m) / exp(m′)', 'exp(m − m′)', 'Beide: Sie sind gleich.', '1 / exp(m′ − m), denn m′ ≥ m'],
    nudge:
      'Achte auf jedes Zwischenergebnis für m = 100, nicht nur auf das letzte. Manche dieser Formen sind auf dem Papier gleich, laufen aber unterwegs über.',
    why: [
      'm − m′ ist nie positiv, also ist exp(m − m′) höchstens 1. exp(100) allein liegt über 3,4·10³⁸, und der Quotient wird ∞/∞. Und 1/exp(m′ − m) läuft über, sobald m′ um 89 über m liegt. Nach IEEE 754 ist 1/∞ dann 0 und zufällig richtig, aber ein Compiler für eine GPU darf annehmen, dass Unendlich nicht vorkommt. Dieselbe Mathematik, dreimal ein anderes numerisches Verhalten.',
    ],
  },
  'running-tricks': {
    question:
      'Aufgabe 6. Was davon führt einen Zustand mit und *korrigiert das bisher Akkumulierte*, wenn sich ein Bezugspunkt verschiebt?',
    options: [
      'Varianz nach Welford: Der Mittelwert verschiebt sich mit jeder Zahl.',
      'Die Wörter eines Textes zählen.',
      'Kahan-Summation: Eine zweite Zahl führt den Rundungsfehler mit.',
      'Der größte Verlust eines Depots seit seinem Höchststand: Der Höchststand verschiebt sich.',
      'Block-Gleitkomma: Wächst der gemeinsame Exponent, werden alle Mantissen verschoben.',
    ],
    nudge:
      'Frag dich jedes Mal: Gibt es etwas Globales, das erst am Ende bekannt ist, und wird das bisher Akkumulierte korrigiert, wenn es sich ändert?',
    why: [
      'Beim Zählen verschiebt sich kein Bezugspunkt, und der größte Verlust behält seinen Wert, wenn ein neuer Höchststand kommt: Nichts Vergangenes wird korrigiert. Bei Welford werden die Quadrate für den verschobenen Mittelwert korrigiert, Kahan gleicht aus, was die Rundung verschluckt hat, und Block-Gleitkomma rechnet alles auf den neuen Exponenten um, so wie der Online-Softmax auf sein neues Maximum.',
      'Zwei Verwandte: *Cauchy-Folgen* ersetzen einen unbekannten Grenzwert durch Glieder, die einander beliebig nahe kommen, und die *partielle Summation* (Abel) macht die akkumulierte Größe zur Hauptsache.',
    ],
  },
  welford: {
    question:
      'Die Varianz in einem Durchgang. Wir merken uns n, den Mittelwert und $M_2$, die Summe der quadrierten Abstände vom Mittelwert. Was kommt zu $M_2$ hinzu, wenn x eintrifft?',
    options: [
      '(x − alter Mittelwert)²',
      '(x − neuer Mittelwert)²',
      '(x − alter Mittelwert) · (x − neuer Mittelwert)',
      '(x − alter Mittelwert)² + (neuer − alter Mittelwert)²',
    ],
    nudge:
      'Probier es mit den Zahlen 0 und 2: Der Mittelwert wandert von 0 auf 1, und die wahre Summe der Quadrate ist 2.',
    why: [
      'Ein Abstand vom alten Mittelwert und einer vom neuen. Die Herleitung zieht die beiden Quadratsummen Term für Term voneinander ab:',
      'Der erste Faktor ist der Abstand der neuen Zahl vom alten Mittelwert, der zweite ihr Abstand vom neuen. Wie das Maximum beim Softmax hängt der Mittelwert von allen Zahlen ab; auch hier wird das Vergangene korrigiert, statt noch einmal gelesen zu werden. Mit den Zahlen dieses Kapitels:',
    ],
  },
  'numerator-rule': {
    question:
      'Aufgabe 7. Ein Key mit Score $x$ und Value-Vektor $v$ kommt hinzu, und das Maximum steigt von m auf m′. Was wird aus dem Zähler?',
    options: [
      'num + exp(x − m′) · v',
      'num · exp(m − m′) + exp(x − m′) · v',
      '(num + exp(x − m) · v) · exp(m′ − m)',
      'num · exp(m − m′) + v',
    ],
    nudge: 'Alles im Zähler war auf das alte Maximum bezogen. Womit muss man es multiplizieren?',
    why: [
      'Der Faktor ist eine Zahl für alle Komponenten, lässt sich also über den Vektor verteilen; für den Nenner gilt dieselbe Regel mit 1 statt v. Der Zustand einer Query besteht aus zwei Zahlen und einem Vektor der Kopfgröße statt aus einer Zeile von n Gewichten.',
    ],
  },
  'one-pass': {
    question: 'Der Softmax allein brauchte zwei Durchgänge. Warum braucht Attention nur einen?',
    options: [
      'Ihre Scores sind wegen 1/√d kleiner.',
      'Sie braucht kein Maximum, denn V ist beschränkt.',
      'Ihre Ausgabe ist nur eine gewichtete Summe, die der laufende Zähler schon enthält; nach einzelnen Gewichten fragt niemand.',
    ],
    nudge: 'Was hat der zweite Durchgang beim Softmax geschrieben, und wer braucht das hier?',
    why: [
      'Der Softmax muss jedes einzelne Gewicht ausgeben, und jedes braucht das endgültige Maximum und die endgültige Summe; also wird x noch einmal gelesen. Attention gibt ein Mittel aus. Jedes Gewicht wird berechnet, mit seinem Value-Vektor multipliziert, addiert und vergessen; am Ende bleibt nur eine Division.',
    ],
  },
  'intensity-orders': {
    question:
      'Ein Besuch bringt eine Kachel aus T Queries und eine aus T Keys zusammen: $4T^2d$ Operationen. Mit Queries außen werden dafür K und V geladen, mit Keys außen Q und O geladen und O gespeichert. Um welchen Faktor ist die arithmetische Intensität mit Queries außen höher?',
    nudge: 'Zähl für jede Reihenfolge die Kacheln aus T·d Zahlen, die pro Besuch bewegt werden.',
    why: [
      'Um 1,5: Es werden zwei Kacheln bewegt statt drei. Mit $b$ Bytes pro Zahl:',
      'Ausgabeplätze im schnellen Speicher bringen die andere Reihenfolge näher heran: Das ist der Bereich, den der Regler zeigt.',
    ],
  },
  'intensity-flash': {
    question: 'Was erhöht die arithmetische Intensität von Flash-Attention (Queries außen)?',
    options: [
      'Eine längere Sequenz.',
      'Mehr Queries pro Kachel.',
      'Eine größere Kopfgröße d.',
      'Mehr Keys pro Kachel, bei gleich vielen Queries.',
    ],
    nudge:
      'Die Intensität ist 2T/b. Wessen T ist das: Welche Kachel bestimmt, wie oft ein geladenes K verwendet wird?',
    why: [
      'Ein geladener Key trifft auf jede Query der Kachel: T Queries verwenden jedes Byte T-mal. Die Intensität ist also 2T/b, unabhängig von Sequenzlänge und Kopfgröße. Mehr Keys auf einmal bewegen dieselben Bytes nur in größeren Portionen. Standard-Attention, die S schreibt und P liest, bleibt unter d/b, egal wie groß ihre Kacheln sind.',
    ],
  },
  ingredient: {
    question:
      'Warum muss der Vorwärtsdurchlauf P nicht speichern? Der Online-Softmax ist nicht der Grund; er kümmert sich um den Nenner.',
    options: [
      'P ist symmetrisch, also genügt die Hälfte.',
      'P kommt nur in einer Summe über seine Spalten vor, also kann jedes Element dort verwendet werden, wo es entsteht.',
      'P hat wenige große Elemente, also muss man die meisten nicht aufheben.',
    ],
    nudge: 'Wo steht P in der Formel für O, und wie oft wird jedes Element davon verwendet?',
    why: [
      'Es ist die *Kontraktion*: P kommt nur in $\\sum_j P_{ij} v_j$ vor. Jedes Element wird berechnet, multipliziert, addiert und vergessen. Der Rückwärtsdurchlauf muss dasselbe Muster für dP und dS finden, obwohl ein Softmax dazwischenliegt.',
    ],
  },
  'why-gradients': {
    question:
      'Kein Optimierer aktualisiert Q, K oder V: Sie werden jedes Mal aus X berechnet. Warum berechnet man trotzdem dQ, dK und dV?',
    options: [
      'Die Gradienten der Projektionsgewichte und von X sind Produkte mit ihnen.',
      'Der Optimierer braucht ihre Größe, um die Lernrate zu wählen.',
      'Sie zeigen, welche Tokens wichtig waren.',
    ],
    nudge: 'Was aktualisiert der Optimierer, und worüber führt die Kettenregel dorthin?',
    why: [
      '$dW_Q = X^\\top dQ$, und $dX$ ist eine Summe aus drei Termen, je einem für dQ, dK und dV: Der Weg zu den Gewichten und zur Schicht darunter führt über sie. Jede Zeile von dQ kann in beides eingehen, in eine Zeile von $dX$ und in ein Rang-1-Update von $dW_Q$, und dann vergessen werden.',
    ],
  },
  'projection-cost': {
    question:
      'Wie viele Operationen brauchen $dW_Q$, $dW_K$ und $dW_V$ zusammen, bei n Tokens und d Kanälen? Und dX?',
    options: [
      '$6nd^2$ für die Gewichte, $6nd^2$ für dX',
      '$6n^2d$ für die Gewichte, $6nd^2$ für dX',
      '$2nd^2$ für die Gewichte, $6nd^2$ für dX',
      '$6nd^2$ für die Gewichte, $2n^2d$ für dX',
    ],
    nudge:
      'Ein Produkt einer a × b- mit einer b × c-Matrix braucht 2abc Operationen. Welche Formen treffen hier aufeinander?',
    why: [
      'Jeder Gewichtsgradient ist $d \\times n$ mal $n \\times d$: $2nd^2$, dreimal. dX braucht drei Produkte von $n \\times d$ mit $d \\times d$: noch einmal $6nd^2$. Rückwärts durch die Attention selbst sind es fünf Produkte zu je $2n^2d$; sie dominieren, sobald n größer ist als etwa d.',
    ],
  },
  'walk-score': {
    question:
      'Geh dS und P Spalte für Spalte durch. Wie viele von dQ, dK und dV sind dann innere Produkte, die bei jedem Schritt eine Zeile abschließen?',
    nudge:
      'Spalte j von dS ist Zeile j von dSᵀ. Welche der drei Produkte haben links dS oder P transponiert?',
    why: [
      'Zwei: dK = dSᵀ·Q und dV = Pᵀ·dO schließen mit Spalte j die Zeile j ab; nur dQ ist ein äußeres Produkt. Zeile für Zeile sind es ein inneres und zwei äußere. Der Softmax arbeitet zeilenweise, aber `lse` und D enthalten alles, was eine Spalte von jeder Zeile wissen muss; so stehen beide Wege offen.',
    ],
  },
  'known-d': {
    question:
      'Das D einer Zeile ist nur ein Skalarprodukt. Warum berechnet man es vor allem anderen aus dO und O?',
    options: [
      'Aus P und dP wäre es weniger genau.',
      'Aus P und dP ist es erst bekannt, wenn die ganze Zeile durch ist, und K und V müssten zweimal geladen werden.',
      'Es spart das Produkt dP = dO·Vᵀ.',
    ],
    nudge: 'Das dS der ersten Kachel braucht D. Wann wäre es bekannt?',
    why: [
      'Ist D bekannt, lassen sich P, dP, dS und ihre Beiträge zu den Gradienten in einem Zug berechnen, solange K und V im schnellen Speicher liegen: einmal laden statt zweimal, doppelt so viele nützliche Rechenoperationen pro Byte.',
    ],
  },
};

import type { Text } from '../text.ts';

export const machine: Text['machine'] = {
  intro:
    'Der Speicher ist groß und fern, die Register sind wenige und nah. Diese Maschine hat beides, und einen Multiplizierer, der seine zwei Operanden nur aus `R0` und `R1` liest. Jeder Befehl dauert einen Takt. Was hier schnell ist, ist auch auf einer GPU schnell: eine Zahl wiederverwenden, solange sie nah ist.',
  wiring: 'Der Multiplizierer liest',
  wirings: { fixed: 'R0 und R1', any: 'jedes Register' },
  registers: 'Register',
  noProgramForOne: 'Vier Operanden, zwei Produkte, ein Ergebnis: Kein Programm braucht weniger.',
  optimum: registers => `Kein Programm für diese Maschine mit ${registers} Registern braucht weniger.`,
  fewer: (registers, fewest) => `Mit ${registers} Registern geht es in ${fewest}.`,
  canItBeFewer: 'Geht es in weniger Takten?',
  fewest: [
    'Wie viele Takte alle vier Elemente mindestens brauchen, ist bekannt: Alle Programme wurden ausprobiert. Mehr Register halten mehr Teilsummen nah, sodass jede geladene Zahl mehr ihrer Partner trifft, bevor sie ersetzt wird.',
    'Wenn jedes Register den Multiplizierer speisen darf, können auch Operanden warten. Dann genügen sechs Register, um jede der acht Zahlen nur einmal zu laden: achtmal laden, acht Produkte, viermal speichern, und nichts davon lässt sich weglassen.',
  ],
  fewestCaption: 'Wenigste Takte für das ganze Produkt',
  styles: 'Inneres gegen äußeres Produkt',
  innerProduct: 'Inneres Produkt',
  outerProduct: 'Äußeres Produkt',
  cyclesInAll: 'Takte für ganz C',
  stylesWhy:
    'Das innere Produkt beendet eine Summe, bevor es die nächste beginnt. Das äußere hält alle Summen offen und lässt jede geladene Zahl ihre beiden Partner treffen. Dieselbe Wahl kehrt in Kapitel 4 wieder, mit Kacheln statt Zahlen.',
  quiz: 'Quiz: das innere Produkt mit sechs Registern',
  quizAnswer: [
    'Solange nur `R0` und `R1` den Multiplizierer speisen, halten drei weitere Register nichts als Summen, und ein inneres Produkt hat immer nur eine: Es bleibt bei 25 Takten.',
    'Darf jedes Register ihn speisen, halten die neuen Register Operanden. Behalte Zeile 0 von A, während c₀₀ und c₀₁ entstehen; dann sind beide Spalten von B da und bleiben für c₁₁ und c₁₀. Jede Zahl wird einmal geladen: achtmal laden, 20 Takte. Probier es aus: Stell oben die Verdrahtung um.',
  ],
  whyThree: 'Warum mindestens drei Register?',
  whyThreeAnswer:
    'Zwei speisen den Multiplizierer, und das nächste Paar überschreibt sie. Die Summe bisher braucht ein drittes. Auf neueren GPUs (NVIDIA Blackwell) hält die Matrixeinheit diesen Akkumulator in einem eigenen Speicher; das macht Register für Operanden frei.',
};

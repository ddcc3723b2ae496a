"""A second set of the same kind as `plain_pairs`: 185 statements, each with its question, and 60 that nothing answers.

Written by somebody who saw neither code nor rules, and asked while the way of the training and the weight of meaning
were chosen: docs/decisions/0005-builtin-embedding.md. In each language one person speaks.
"""

# ruff: noqa: RUF001 - text as people write it, in every script

__all__ = ["NEVER", "TOLD"]

TOLD: dict[str, list[tuple[str, str]]] = {
    "en": [
        (
            "we finally had the boiler serviced on tuesday, the guy said the pressure valve has maybe a year left in it",
            "how long did the heating engineer reckon that part would hold out?",
        ),
        (
            "My sister Nadia is moving to Rotterdam in September for a postdoc. I'm thrilled for her and also a bit jealous.",
            "which city will my sibling be living in from the autumn?",
        ),
        ("I can't eat anything with sesame in it, my throat swells up.", "would hummus be safe for me?"),
        ("lent Tom my cordless drill, he'd better not wreck it this time", "who's got that power tool of mine?"),
        (
            "Please don't use bullet points when you write to me, I find them cold.",
            "how do I like your replies laid out?",
        ),
        ("Paid 340 for the new bike, second hand but barely ridden.", "what did the bicycle set me back?"),
        (
            "The dog has to have half a thyroid tablet every morning, hidden in cheese, otherwise he just spits it out on the rug",
            "what's the trick for getting medicine into the pup?",
        ),
        ("Owen starts at Hillcrest Primary on the 4th of September", "when's our boy's first day in class?"),
        ("I've been sleeping terribly ever since next door got that cockerel", "what was it that kept waking me up?"),
        ("My manager is now Priya, Graham took early retirement.", "who do I report to these days?"),
        (
            "No more coffee for me after 2pm. Honestly the best thing I've done all year.",
            "what's my cut-off for caffeine?",
        ),
        (
            "The wifi password at the cottage is taped underneath the bread bin.",
            "we're at the holiday place, where do I look to get online?",
        ),
        (
            "Booked the ferry to Santander for the 19th of May, cabin with a window, a bit of luxury for once",
            "what date do we sail to Spain?",
        ),
        (
            "I think open plan offices are a crime against humanity",
            "how do I feel about everyone at a company sharing one big room?",
        ),
        (
            "Gran's hip operation got put off until November because there aren't enough anaesthetists",
            "why did they delay the old lady's surgery?",
        ),
        ("Started learning the cello! at 43! my fingers are killing me", "which instrument did I take up?"),
        ("put the spare car key with Mrs Adeyemi at number 12", "I'm locked out of the vehicle, who nearby can help?"),
        (
            "Our anniversary is the 22nd of June. Last year I forgot it completely and it was awful, so please be my backup brain on this.",
            "day and month we got married?",
        ),
        (
            "The mortgage fix ends next February so we'll have to shop around",
            "when does our current home loan deal run out?",
        ),
        ("I take a 42 in running shoes but a 41 in everything else", "what size do I order if it's trainers?"),
        (
            "The tomatoes got blight again, I'm never growing them outdoors from now on",
            "what went wrong with my veg last summer?",
        ),
        ("Leah is vegetarian now. She announced it over roast lamb, naturally.", "which of the kids won't touch meat?"),
        (
            "I'm saving two hundred a month towards redoing the kitchen",
            "that money I keep putting aside, what's it meant for?",
        ),
        (
            "The letter E on my laptop sticks so I've plugged in an old keyboard from the attic",
            "what was broken on my computer?",
        ),
        (
            "We always make pizza from scratch on Fridays, it's sacred.",
            "which evening is our homemade pizza tradition?",
        ),
        (
            "Dr Lindqvist wants my cholesterol tested again in three months, said it was borderline",
            "what blood check am I supposed to repeat?",
        ),
        ("I swim at the lido Tuesday and Thursday before work, 6.30, freezing", "on which mornings am I in the pool?"),
        (
            "My thesis supervisor back in the day was Professor Okafor, brilliant woman, terrifying",
            "who oversaw my dissertation?",
        ),
        ("Give me metric please, I never know what a foot or a pound is", "which units should you stick to with me?"),
        ("Returned the blender, it leaked from the bottom on day one", "why did I send that smoothie gadget back?"),
        (
            "Uncle Ferdie has bought a narrowboat and intends to live on it full time, at 71, and we are all slightly worried",
            "that eccentric relative of mine, what's his new home going to be?",
        ),
        ("The council takes the brown bin every other Wednesday", "when do the grass cuttings get picked up?"),
        ("I've got the dentist on October 3rd to replace the crown", "when am I having my tooth fixed?"),
        (
            "I hate flying. I'd rather spend 20 hours on a train.",
            "plane or rail for the conference, which would I choose?",
        ),
        (
            "The cat, Biscuit, turns out to be allergic to chicken so we only buy fish ones now",
            "what flavour should I pick up at the pet shop for Biscuit?",
        ),
        (
            "Our cleaner Marta comes on alternate Mondays and has her own key",
            "how does the woman who does the hoovering get in?",
        ),
        (
            "I borrowed a tent from Hannah and Jules, must give it back before their trip in August",
            "whose camping stuff is sitting in my cupboard?",
        ),
        (
            "In the quarterly review I got told to delegate more, which, fair enough",
            "what was the criticism at my appraisal?",
        ),
        (
            "I always mix up left and right, so say 'driver side' or 'passenger side' instead",
            "how should directions be phrased for me?",
        ),
        ("My wife loves peonies, not roses, never roses", "what bouquet would make her happy?"),
        (
            "Dropped my phone in the bath. The insurance has a 75 excess, typical.",
            "how much of the mobile claim comes out of my own pocket?",
        ),
        ("I joined the choir at St Anne's, I'm a second alto apparently", "which voice part do I sing?"),
        (
            "we painted the hall in a colour called Mizzle, from the posh brand, don't ask what the tin cost",
            "what's the shade on the walls by the front door?",
        ),
        ("My passport expires 8 January", "by when do I need to renew my travel document?"),
        (
            "Dad's the treasurer of the bowls club and moans about it every Sunday",
            "what's my father's role in his sports society?",
        ),
        (
            "Something bit me in the woods and now there's a ring on my calf, so it's doxycycline for three weeks",
            "which antibiotic was I given?",
        ),
        ("I gave my old guitar to my nephew Kit for his birthday", "what present did Kit get from me?"),
        (
            "We're thinking of a week in the Faroes next spring, I want to see puffins before I die",
            "where did we fancy going for the birds?",
        ),
        ("Parents evening is on the 12th at 5.40 with Mr Baptiste, the maths one", "what time do we meet the teacher?"),
        ("I owe Carlos 60 quid for the concert", "any debts with a mate I've forgotten about?"),
        ("I only read on paper, screens give me migraines", "would a Kindle be a sensible gift for me?"),
        ("Switched over to Octopus in March, should be cheaper", "who do we pay for electricity and gas?"),
        (
            "Ines can babysit, she's 15 an hour and free any day except Wednesdays",
            "what does it cost to have someone watch the children?",
        ),
        (
            "I'm training for the Leeds half, and I'd be over the moon with anything under two hours",
            "what finish am I aiming at in the race?",
        ),
        (
            "The printer only works if you turn it off and on twice. No idea why.",
            "what's the workaround for getting documents onto paper?",
        ),
        (
            "Podcasts at 1.5 speed are unbearable, people should be allowed to breathe",
            "what's my view on listening to things faster?",
        ),
        (
            "Mum's ashes were scattered at Whitby, off the west cliff, and we go up every 2nd of April",
            "which place do we visit each year in memory of my mother?",
        ),
        (
            "I work from home on Mondays and Fridays, other days I'm in the Bristol office",
            "on which weekdays would a courier catch me at the house?",
        ),
        ("The car goes in for its MOT at Patel's on the 28th", "where's the yearly vehicle inspection happening?"),
        (
            "When I ask for recipes, make them for five people, my lot eat like wolves",
            "how many portions should a dish you suggest have?",
        ),
    ],
    "de": [
        (
            "Frau Kessler von nebenan gießt die Balkonblumen, solange wir weg sind.",
            "Wer kümmert sich um die Pflanzen, wenn wir verreist sind?",
        ),
        ("Ich vertrage keine Laktose, seit ungefähr zwei Jahren", "kann ich mir ein normales Sahneeis bestellen?"),
        (
            "Malte hat jetzt eine Schreinerei in Husum aufgemacht, ganz allein, verrückt, aber ich bewundere meinen Bruder dafür",
            "Womit hat sich Malte selbstständig gemacht?",
        ),
        ("Bitte duz mich und lass die Emojis weg.", "Wie soll dein Ton mir gegenüber sein?"),
        ("das neue Sofa kommt in KW 38, 1.290 hat der Spaß gekostet", "Was habe ich für die Couch hingelegt?"),
        (
            "Meine Tochter hat mittwochs um vier Geigenunterricht bei Frau Sato",
            "Wann muss ich die Kleine zur Musikstunde fahren?",
        ),
        (
            "Der Kater bekommt seit dem Besuch beim Tierarzt nur noch Nierendiät, er hasst sie",
            "Welches Futter darf ich für unser Haustier kaufen?",
        ),
        ("Ich fahre jetzt mit dem Rad zur Arbeit, 11 Kilometer, tut dem Kopf gut", "wie komme ich morgens ins Büro?"),
        (
            "Im Februar kündige ich beim Fitnessstudio, die sind mir zu teuer geworden",
            "Welche Mitgliedschaft wollte ich loswerden?",
        ),
        (
            "Die Steuererklärung macht dieses Jahr Herr Brandl, der Tipp kam von Anke",
            "Wer hat mir den Berater fürs Finanzamt empfohlen?",
        ),
        (
            "Opa wird am 17. Oktober neunzig, wir feiern im Gasthof Linde, mit Blaskapelle und allem",
            "Wo steigt das große Fest für den alten Herrn?",
        ),
        (
            "Ich finde Krimis furchtbar langweilig, man weiß eh immer, wer's war",
            "Welche Art Bücher brauchst du mir gar nicht erst vorzuschlagen?",
        ),
        (
            "mein Handy lädt nur noch, wenn man das Kabel leicht nach oben biegt",
            "Wie krieg ich wieder Saft aufs Telefon?",
        ),
        ("Wir haben die Hütte im Zillertal vom 27. Dezember bis 3. Januar gemietet", "Wo verbringen wir Silvester?"),
        ("Seit dem Bandscheibenvorfall soll ich nichts über zehn Kilo heben", "Darf ich beim Umzug Kisten schleppen?"),
        (
            "Hab von Sabine den Raclettegrill ausgeliehen, steht im Keller",
            "Welches Küchengerät gehört eigentlich gar nicht mir?",
        ),
        (
            "Der Hausmeister heißt Dragan und ist nur vormittags erreichbar",
            "Wen rufe ich an, wenn im Treppenhaus das Licht ausfällt?",
        ),
        ("Jeden Sonntagabend telefoniere ich mit Mama, das ist heilig", "Wann melde ich mich immer bei meiner Mutter?"),
        (
            "Im neuen Projekt bin ich für die Abnahmetests zuständig, die Leitung hat Yvonne",
            "Was ist meine Aufgabe im Team?",
        ),
        (
            "Am Samstag hab ich einen Sauerteig angesetzt. Er heißt Horst.",
            "Welchen Namen habe ich dem Brotansatz gegeben?",
        ),
    ],
    "es": [
        (
            "Mi suegra viene a pasar dos semanas en agosto, que Dios me coja confesado",
            "¿a quién tendremos de visita este verano?",
        ),
        ("El médico me ha prohibido la sal por la tensión", "¿por qué tengo que comer tan soso?"),
        ("He apuntado a Lucía a natación, martes y jueves", "¿qué días tiene piscina la niña?"),
        ("le presté la escalera a Paco, el del tercero", "¿a qué vecino tengo que reclamarle lo mío?"),
        (
            "Contéstame siempre corto, dos o tres frases como mucho, que leo en el metro",
            "¿cómo de largas te pedí las respuestas?",
        ),
        (
            "La lavadora nueva es una Balay, 429 euros con la instalación incluida",
            "¿cuánto me costó el último electrodoméstico?",
        ),
        ("Nos vamos a Lisboa en el puente de la Constitución", "¿adónde viajamos en diciembre?"),
        ("Mi jefe quiere que me mude a la oficina de Zaragoza, y yo ni de broma", "¿qué me propusieron en el trabajo?"),
        (
            "al perro le dan pánico los petardos, así que en Fallas lo llevamos a casa de mi tía",
            "¿qué hacemos con el animal cuando hay tanto ruido de fiesta?",
        ),
        ("Soy zurdo, por si algún día me recomiendas tijeras o guitarras", "¿con qué mano escribo?"),
        ("Mi prima Rocío se casa el 14 de junio en Úbeda", "¿cuándo es la boda a la que estamos invitados?"),
        ("No soporto el cilantro, me sabe a jabón", "¿qué hierba hay que dejar fuera de las recetas?"),
        ("Me he pasado a Digi, pago 10 al mes y tan contento", "¿qué compañía me da la línea de móvil?"),
        ("Cada mañana camino una hora por el río antes de ducharme", "¿cuál es mi rutina al despertarme?"),
        ("Le debo 80 euros a Marisa de la cena de Navidad", "¿a quién tengo que devolverle dinero?"),
        (
            "El tejado de la casa del pueblo tiene goteras y nos piden 6.000 por arreglarlo, un robo",
            "¿qué presupuesto nos dieron para la reparación?",
        ),
        ("Voy a clases de cerámica en el barrio, la profe se llama Amparo", "¿quién me enseña a trabajar el barro?"),
        (
            "A mi hijo le han quedado las matemáticas, la recuperación es el 3 de septiembre",
            "¿cuándo se examina el chaval de lo que suspendió?",
        ),
        ("creo que el fútbol está sobrevalorado, la verdad", "¿qué opino del deporte rey?"),
        (
            "Las llaves del trastero están en la caja de galletas azul",
            "¿dónde guardé lo que abre el cuartito de abajo?",
        ),
    ],
    "fr": [
        (
            "Théo est allergique aux piqûres de guêpe, on a toujours un stylo d'adrénaline dans le sac",
            "qu'est-ce qu'il faut emporter en pique-nique au cas où le petit réagirait mal ?",
        ),
        ("J'ai prêté mon appareil photo à Solène pour son voyage au Vietnam", "qui a mon reflex en ce moment ?"),
        (
            "On a signé le compromis pour l'appart, remise des clés le 30 novembre",
            "à quelle date le nouveau logement sera vraiment à nous ?",
        ),
        (
            "Je déteste qu'on me réponde par des listes, écris-moi de vraies phrases",
            "sous quelle forme je veux tes messages ?",
        ),
        ("ma belle-sœur est kiné à Annecy", "dans la famille, qui pourrait me masser la nuque ?"),
        ("Le lundi soir c'est chorale, donc ne me propose rien ce jour-là", "quand est-ce que je chante ?"),
        (
            "La chaudière fait un bruit de casserole depuis jeudi, le plombier passe le 8",
            "quand vient le monsieur pour le chauffage ?",
        ),
        ("J'ai arrêté de fumer le 2 janvier, et je tiens !", "depuis quand je n'ai plus touché une cigarette ?"),
        (
            "Notre lapin s'appelle Gaston et il ronge tous les câbles",
            "pourquoi faut-il cacher les fils électriques à la maison ?",
        ),
        (
            "J'ai acheté une vieille 2CV à retaper, 3 200 euros, depuis ma femme ne m'adresse plus la parole",
            "combien j'ai mis dans la voiture de collection ?",
        ),
        ("Au bureau c'est Karim qui valide les congés maintenant", "à qui dois-je demander mes vacances ?"),
        (
            "pour moi le camping c'est non, plus jamais, j'ai passé l'âge",
            "est-ce que je serais partant pour dormir sous la tente ?",
        ),
        ("Ma fille passe le bac de français le 13 juin", "c'est quand déjà, l'examen de la grande ?"),
        (
            "Je prends du magnésium le soir pour les crampes",
            "qu'est-ce que j'avale avant de me coucher pour mes jambes ?",
        ),
        (
            "Le code du portail de mes parents, c'est l'anniversaire du chien : 0412",
            "comment j'entre chez papa et maman ?",
        ),
    ],
    "ko": [
        ("서연이가 다음 달부터 발레를 배우기로 했어, 토요일 오전 10시 반", "애 춤 수업이 주말 몇 시였지?"),
        ("나 새우 먹으면 두드러기 올라와", "해물탕 시킬 때 뭘 빼달라고 해야 해?"),
        ("동생한테 캐리어 빌려줬어, 추석 전에 돌려준대", "내 여행가방 지금 누가 갖고 있더라?"),
        ("답할 때는 존댓말 말고 편하게 반말로 해줘", "내가 너한테 어떤 말투를 써달라고 했었지?"),
        ("전세 계약이 내년 3월 말에 끝나서 슬슬 집 알아봐야 돼, 벌써 머리 아파", "언제까지 이사할 데를 구해야 하지?"),
        ("팀장님이 바뀌었어. 이제 오민석 부장님이야", "지금 내 직속 상사가 누구야?"),
        ("고양이 모래를 두부로 바꿨더니 훨씬 좋아하네", "냥이 화장실에 뭘 깔아주면 돼?"),
        ("엄마 무릎 수술 5월 20일로 잡혔어 ㅠㅠ", "어머니 병원에 입원하시는 게 며칠이었지?"),
        ("요즘 퇴근하고 클라이밍 다녀, 손바닥이 다 까졌어", "내가 새로 시작한 운동이 뭐였지?"),
        ("중고로 아이패드 샀는데 38만원 줬어. 잘 산 건가 모르겠다", "태블릿 얼마에 구했더라?"),
        ("남편이 야근이 많아서 수요일은 항상 내가 어린이집 데리러 가", "평일 중에 하원 담당이 나인 날은?"),
        ("난 공포영화는 절대 못 봐, 일주일은 잠을 설쳐", "극장 갈 때 어떤 장르는 추천하지 말아야 해?"),
        ("10월에 교토 가려고 비행기 표 끊었어, 9일 출발", "일본 여행 며칠에 떠나지?"),
        ("냉장고가 자꾸 웅웅거려서 기사님 불렀더니 팬 문제래", "주방 가전이 시끄러웠던 원인이 뭐였지?"),
        ("지훈이 결혼식 사회를 내가 보기로 했어, 벌써 떨려", "지훈이 잔칫날에 내가 맡은 역할은?"),
    ],
    "zh": [
        ("我妈对花生过敏,做菜千万别放", "给老太太炒宫保鸡丁有什么要注意的?"),
        ("帐篷借给老周了,他说五一以后还", "露营的装备现在在谁手里?"),
        ("儿子九月上小学,分在一年级三班,班主任姓冯", "孩子的老师怎么称呼来着?"),
        ("回答我的时候别啰嗦,直接说结论", "我希望你用什么方式跟我讲话?"),
        ("周末我一般去郊区钓鱼,空军也开心", "休息日我爱干嘛?"),
        ("新买的扫地机器人两千三,双十一抢的,不知道亏没亏", "那个打扫卫生的机器花了多少钱?"),
        ("我爸每天饭后要吃降糖药,一次一片", "老头子的慢性病每顿之后该服多少?"),
        ("公司下个月搬到望京,单程要一个半小时,烦死了", "以后我上班路上得花多久?"),
        ("狗狗打疫苗约在二十六号下午", "什么时候带毛孩子去宠物医院?"),
        ("我觉得直播带货都是骗人的", "我对网红在网上卖东西怎么看?"),
        ("房贷每月七千二,还剩十一年", "欠银行的那笔要多久才清?"),
        ("国庆打算开车去甘南,我和媳妇轮流开,希望别堵", "十月长假准备上哪儿玩?"),
        ("我妹在成都当护士,三班倒", "家里谁是干医疗这行的?"),
        ("自从落枕以后换了个荞麦枕头,好多了", "脖子不舒服我是怎么解决的?"),
        ("路由器放鞋柜里信号差,挪到电视后面就好了", "家里上网慢后来是怎么处理的?"),
    ],
    "ja": [
        ("来月から経理の森田さんが産休に入るので、私が請求書を担当します", "同僚の代わりに引き受けた仕事は何だっけ?"),
        ("そばアレルギーなんです、子どもの頃から", "和食の店で避けなきゃいけない麺は?"),
        ("姉に炊飯器をあげた。引っ越し祝いに", "家族への新居のプレゼント、何にしたんだっけ"),
        ("返事は三行以内でお願い。長文だと読まないから", "どれくらいのボリュームで答えてほしいって言ったっけ"),
        ("インコのミカンが最近「おはよう」って言えるようになった!", "うちの鳥が覚えた言葉は?"),
        ("車検が11月15日までなんだよね、早めに予約しないと", "マイカーの点検の期限はいつ?"),
        ("毎朝5時に起きて写経してる、意外と続いてる", "出勤前の習慣は何だった?"),
        ("母の還暦に温泉旅行を計画中。箱根と迷ったけど草津にした", "親孝行でどこに連れていく予定?"),
        ("エアコンのリモコン、電池の蓋が割れたからテープで留めてる", "冷房を操作するやつ、どこが壊れてたっけ?"),
        ("正直、飲み会は一次会だけで帰りたい派", "職場の宴会についての私のスタンスは?"),
    ],
    "pt": [
        ("Minha avó faz 85 no dia 9 de março, vai ter churrasco no sítio", "quando a gente comemora com a velhinha?"),
        ("Emprestei minha prancha pro Renato, ele volta de Floripa domingo", "com quem tá meu equipamento de surfe?"),
        ("Tenho enxaqueca toda vez que como chocolate amargo", "qual doce me dá dor de cabeça?"),
        ("Pode me chamar de Dudu, Eduardo é só minha mãe quando está brava", "qual apelido eu prefiro que você use?"),
        ("Comecei como analista de dados numa cooperativa de leite, o pessoal é ótimo", "em que eu trabalho agora?"),
        (
            "A geladeira veio com a porta amassada, a loja vai trocar na quinta",
            "que dia chega o eletrodoméstico sem defeito?",
        ),
        ("toda terça jogo futsal com o pessoal da faculdade", "qual noite é da bola com os amigos?"),
        (
            "A escola do Bento aumentou a mensalidade pra 1.450, um absurdo",
            "quanto a gente paga pelo colégio do menino?",
        ),
        ("Acho praia em janeiro um inferno, muita gente", "eu toparia ir pro litoral no auge do verão?"),
        (
            "A cachorra foi castrada e tem que usar o cone por dez dias",
            "por quanto tempo o bicho fica com aquele negócio no pescoço?",
        ),
    ],
    "it": [
        ("Mio cognato mi ha trovato un idraulico bravo, si chiama Enzo", "chi chiamo se perde il rubinetto?"),
        ("non mangio funghi, mai piaciuti", "che pizza è meglio non ordinarmi?"),
        (
            "Abbiamo prenotato il traghetto per la Sardegna, 3 luglio, da Livorno",
            "da quale porto partiamo quest'estate?",
        ),
        (
            "La nonna si è rotta il polso, ha il gesso fino al 25 e brontola tutto il giorno",
            "per quanto ancora l'anziana di casa avrà il braccio bloccato?",
        ),
        ("Dammi sempre del tu e niente giri di parole", "in che modo devi rivolgerti a me?"),
        (
            "Ho preso una macchinetta del caffè usata su Subito, 120 euro",
            "quanto ho speso per farmi l'espresso a casa?",
        ),
        ("Il mercoledì vado a lezione di tango con Federica, pesto i piedi a tutti", "chi è la mia compagna di ballo?"),
        (
            "Mia figlia vuole fare il liceo artistico, io ero per lo scientifico, ma pazienza",
            "che scuola superiore ha scelto la ragazza?",
        ),
        ("il gatto dei vicini entra dalla finestra del bagno e mi mangia le orchidee", "chi mi rovina i fiori?"),
        ("Ho lasciato i documenti della macchina nel cassetto dell'ingresso", "dove sta il libretto dell'auto?"),
    ],
    "ru": [
        (
            "Дочка занимается фигурным катанием, лёд в шесть утра, я скоро умру",
            "во сколько везти ребёнка на тренировку?",
        ),
        ("У меня гастрит, острое нельзя", "стоит ли мне брать том-ям?"),
        ("Отдал соседу Валере шуруповёрт до выходных", "кто взял мой инструмент?"),
        ("отвечай мне без вводных слов, сразу по делу", "как я просил тебя со мной разговаривать?"),
        (
            "На даче под Тверью будем перекрывать крышу в июне, бригада уже нашлась",
            "какой ремонт запланирован на начало лета?",
        ),
        ("Купил зимнюю резину, комплект обошёлся в 38 тысяч", "сколько я отдал за шины?"),
        ("Мама летит к нам из Омска 29 декабря", "какого числа ехать в аэропорт встречать гостью?"),
        ("Начальник у нас теперь Алла Сергеевна, строгая, но толковая", "кто сейчас руководит отделом?"),
        ("Пёс боится лифта, поэтому ходим пешком на восьмой этаж", "почему мы с собакой поднимаемся по лестнице?"),
        ("Сериалы надо смотреть с субтитрами, дубляж всё портит", "как мне включать кино на английском?"),
    ],
}

NEVER: dict[str, list[str]] = {
    "en": [
        "what did I decide about the bathroom tiles?",
        "what's my brother's wife called?",
        "how much was the new sofa?",
        "what did the vet say about the rabbit's teeth?",
        "when do I fly back from Lisbon?",
        "which gym did I sign up with?",
    ],
    "de": [
        "Welche Schuhgröße habe ich?",
        "Wann läuft mein Personalausweis ab?",
        "Wie heißt der Freund meiner Schwester?",
        "Was hat die Reparatur der Spülmaschine gekostet?",
        "Welches Brettspiel wollte ich mir zu Weihnachten wünschen?",
        "Wem habe ich das Zelt geliehen?",
    ],
    "es": [
        "¿qué marca es mi coche?",
        "¿cuándo me toca revisarme la vista?",
        "¿cómo se llama el gato de mi hermana?",
        "¿cuánto pago de alquiler?",
        "¿qué libro me recomendó mi cuñado?",
        "¿de qué color íbamos a pintar el salón?",
    ],
    "fr": [
        "quelle est ma pointure ?",
        "comment s'appelle mon médecin traitant ?",
        "combien coûte la cantine par mois ?",
        "où avons-nous passé Noël l'an dernier ?",
        "quelle marque de vélo je voulais ?",
        "qui m'a offert la montre ?",
    ],
    "ko": [
        "내 혈액형이 뭐였지?",
        "아버지 생신이 언제더라?",
        "자동차 보험 어디로 들었지?",
        "강아지 이름이 뭐였어?",
        "내가 요즘 읽는 책 제목이 뭐였지?",
        "헬스장 한 달 회비가 얼마야?",
    ],
    "zh": [
        "我的护照什么时候到期?",
        "猫叫什么名字?",
        "我穿多大码的鞋?",
        "健身卡是在哪家办的?",
        "结婚纪念日是几号?",
        "上次体检哪项不合格?",
    ],
    "ja": [
        "私の靴のサイズは?",
        "弟の勤め先はどこだっけ?",
        "家賃はいくらだった?",
        "次の歯医者はいつ?",
        "猫のえさは何を買えばいい?",
        "友達に貸した本のタイトルは?",
    ],
    "pt": [
        "qual é o modelo do meu carro?",
        "quando vence meu passaporte?",
        "como se chama minha dentista?",
        "quanto paguei no celular novo?",
        "que remédio meu pai toma pra pressão?",
        "pra onde a gente vai nas férias de julho?",
    ],
    "it": [
        "che numero di scarpe porto?",
        "quando scade la mia patente?",
        "come si chiama il mio capo?",
        "quanto pago di affitto?",
        "a chi ho prestato la bicicletta?",
        "che regalo volevo fare a mio padre?",
    ],
    "ru": [
        "какая у меня группа крови?",
        "как зовут мою кошку?",
        "сколько стоит абонемент в бассейн?",
        "когда у жены день рождения?",
        "какую книгу мне советовал брат?",
        "куда мы собирались в отпуск осенью?",
    ],
}

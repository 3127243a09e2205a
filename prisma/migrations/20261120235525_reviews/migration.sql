-- CreateTable
CREATE TABLE "review_questions" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "text" VARCHAR(500) NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "review_questions_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "reviews" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "date" DATE NOT NULL,
    "rating" SMALLINT NOT NULL,
    "comment" VARCHAR(5000),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reviews_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "review_answers" (
    "business_id" UUID NOT NULL,
    "review_id" UUID NOT NULL,
    "question_id" UUID NOT NULL,
    "rating" SMALLINT NOT NULL,

    CONSTRAINT "review_answers_pkey" PRIMARY KEY ("business_id","review_id","question_id")
);

-- CreateTable
CREATE TABLE "review_counts" (
    "business_id" UUID NOT NULL,
    "rating" SMALLINT NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "review_counts_pkey" PRIMARY KEY ("business_id","rating")
);

-- CreateTable
CREATE TABLE "review_answer_counts" (
    "business_id" UUID NOT NULL,
    "question_id" UUID NOT NULL,
    "rating" SMALLINT NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "review_answer_counts_pkey" PRIMARY KEY ("business_id","question_id","rating")
);

-- CreateIndex
CREATE INDEX "review_questions_business_id_created_at_id_idx" ON "review_questions"("business_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "reviews_business_id_created_at_id_idx" ON "reviews"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "reviews_business_id_rating_created_at_id_idx" ON "reviews"("business_id", "rating", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "reviews_business_id_customer_id_date_key" ON "reviews"("business_id", "customer_id", "date");

-- AddForeignKey
ALTER TABLE "review_questions" ADD CONSTRAINT "review_questions_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reviews" ADD CONSTRAINT "reviews_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "review_answers" ADD CONSTRAINT "review_answers_business_id_review_id_fkey" FOREIGN KEY ("business_id", "review_id") REFERENCES "reviews"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "review_answers" ADD CONSTRAINT "review_answers_business_id_question_id_fkey" FOREIGN KEY ("business_id", "question_id") REFERENCES "review_questions"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "review_answer_counts" ADD CONSTRAINT "review_answer_counts_business_id_question_id_fkey" FOREIGN KEY ("business_id", "question_id") REFERENCES "review_questions"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE review_questions
  ADD CONSTRAINT review_questions_text_check CHECK (text <> '');

ALTER TABLE reviews
  ADD CONSTRAINT reviews_rating_check CHECK (rating BETWEEN 1 AND 5);

ALTER TABLE review_answers
  ADD CONSTRAINT review_answers_rating_check CHECK (rating BETWEEN 1 AND 5);

ALTER TABLE review_counts
  ADD CONSTRAINT review_counts_check CHECK (rating BETWEEN 1 AND 5 AND count >= 0);

ALTER TABLE review_answer_counts
  ADD CONSTRAINT review_answer_counts_check CHECK (rating BETWEEN 1 AND 5 AND count >= 0);
